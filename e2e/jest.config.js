import preset from '../jest.preset.js';

// Every suite runs whole processes: more at a time only make each other slow.
export default { ...preset, testTimeout: 180_000, maxWorkers: 1 };
