import preset from '../../jest.integration.preset.js';

/**
 * For jest.integration.config.js of projects whose suites call `useKafka()`: one broker and one mongod for the whole
 * run.
 */
export default {
  ...preset,
  globalSetup: `${import.meta.dirname}/src/kafka.setup.ts`,
  globalTeardown: `${import.meta.dirname}/src/kafka.teardown.ts`,
};
