import preset from '../jest.integration.preset.js';

// Every suite runs a fleet of processes, which waits most of the time for what comes after a fault.
export default { ...preset, maxWorkers: 2 };
