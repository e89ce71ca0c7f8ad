import preset from './jest.preset.js';

// For jest.integration.config.js: the suites that need Apache Kafka, or tools that npm does not bring, for
// `npm run test:integration`.
export default {
  ...preset,
  testMatch: ['<rootDir>/{src,test}/**/*.{kafka,tools}.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  reporters: [
    'default',
    [`${import.meta.dirname}/tools/ci/src/count-reporter.js`, { resultsFile: '.integration-results.json' }],
  ],
};
