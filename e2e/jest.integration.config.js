import preset from '../jest.integration.preset.js';

export default {
  ...preset,
  globalSetup: '<rootDir>/src/console.setup.js',
  // The suites mostly wait for processes, but more than two fleets or browsers at a time only slow each other down.
  maxWorkers: 2,
};
