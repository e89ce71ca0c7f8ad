import preset from '../jest.integration.preset.js';

// Every suite runs a fleet of processes: more at a time only make each other slow.
export default { ...preset, maxWorkers: 1 };
