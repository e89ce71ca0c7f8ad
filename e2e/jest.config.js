import preset from '../jest.preset.js';

// Every suite runs whole processes, so concurrent suites would only slow each other down.
export default { ...preset, maxWorkers: 1 };
