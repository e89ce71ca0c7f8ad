import preset from '../../jest.preset.js';

/** For projects whose suites call `useMongo()`: one mongod for the whole run. */
export default {
  ...preset,
  globalSetup: `${import.meta.dirname}/src/mongo.setup.ts`,
  globalTeardown: `${import.meta.dirname}/src/mongo.teardown.ts`,
};
