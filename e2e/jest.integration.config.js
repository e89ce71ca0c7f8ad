import preset from '../jest.integration.preset.js';

// Every suite runs a fleet of processes, so concurrent suites would only slow each other down.
export default { ...preset, maxWorkers: 1 };
