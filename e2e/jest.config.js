import preset from '../jest.preset.js';

// Every suite runs whole processes: more at a time only make each other slow.
export default { ...preset, maxWorkers: 1 };
