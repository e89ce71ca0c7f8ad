import preset from '@tollkeeper/testing/jest-kafka.preset.js';

// Each suite has its own brokers, and mostly waits for them.
export default { ...preset, maxWorkers: 2 };
