import preset from '@tollkeeper/testing/jest-kafka.preset.js';

// Each suite has brokers of its own, and waits for them most of the time.
export default { ...preset, maxWorkers: 2 };
