import preset from '../testing/jest-kafka.preset.js';

// Brokers are killed and started again, in one suite at a time.
export default { ...preset, maxWorkers: 1 };
