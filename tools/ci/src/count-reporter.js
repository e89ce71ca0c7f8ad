import { writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * A Jest reporter that writes a project's `ProjectResult` to `resultsFile` in its folder, where the run adds them up.
 */
export default class CountReporter {
  constructor({ rootDir }, { resultsFile = '.test-results.json' } = {}) {
    this.rootDir = rootDir;
    this.file = join(rootDir, resultsFile);
  }

  onRunComplete(_contexts, { testResults, numPassedTests }) {
    const suites = testResults.map((suite) => ({ ...suite, path: this.pathOf(suite) }));
    const result = {
      suites: suites.map(({ path }) => path),
      passed: numPassedTests,
      failures: suites.flatMap(failuresOf),
    };
    writeFileSync(this.file, JSON.stringify(result));
  }

  pathOf({ testFilePath }) {
    return relative(this.rootDir, testFilePath).replaceAll(sep, '/');
  }
}

function failuresOf({ path, testExecError, failureMessage, testResults }) {
  if (testExecError !== undefined) return [describe(path, 'could not run', failureMessage)];
  return testResults
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => describe(path, fullName, failureMessages[0]));
}

function describe(path, what, message) {
  return `${path}: ${what}\n${stripVTControlCharacters(message ?? '')}`;
}
