// Shared by every project's jest.config.js. Suites run as native ES modules, the way the services run.
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  testMatch: ['<rootDir>/{src,test}/**/*.spec.ts'],
  // Suites on Apache Kafka, on tools from outside of npm, and those that need an otherwise idle machine have runs of
  // their own: jest.integration.preset.js, and jest.alone.config.js of e2e.
  testPathIgnorePatterns: ['/node_modules/', '\\.(kafka|tools|alone)\\.spec\\.ts$'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2024',
          parser: { syntax: 'typescript' },
          experimental: { keepImportAttributes: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  // A project may be laid out before its first suite; `npm test` counts a suite that leaves no result as failed.
  passWithNoTests: true,
  // Longer than `eventually` waits, three times in one test, so that a wait which fails says for what.
  testTimeout: 900_000,
  reporters: ['default', `${import.meta.dirname}/tools/ci/src/count-reporter.js`],
};
