import preset from '../jest.integration.preset.js';

// The suites that need an otherwise idle machine, because they overload what they test while others need answers.
export default {
  ...preset,
  maxWorkers: 1,
  testMatch: ['<rootDir>/test/*.alone.spec.ts'],
  reporters: [
    'default',
    [`${import.meta.dirname}/../tools/ci/src/count-reporter.js`, { resultsFile: '.alone-results.json' }],
  ],
};
