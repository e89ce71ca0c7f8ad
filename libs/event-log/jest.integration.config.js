import preset from '../testing/jest-kafka.preset.js';

// Brokers are killed and started again, in one suite at a time.
export default { ...preset, testTimeout: 240_000, maxWorkers: 1 };
