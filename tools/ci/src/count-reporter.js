import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Jest reporter that leaves a project's totals in its folder, where `npm test` adds them up. */
export default class CountReporter {
  constructor(globalConfig) {
    this.rootDir = globalConfig.rootDir;
  }

  onRunComplete(_contexts, results) {
    const broken = results.testResults.filter((suite) => suite.testExecError !== undefined).length;
    const totals = {
      suites: results.numTotalTestSuites,
      passed: results.numPassedTests,
      failed: results.numFailedTests + broken,
    };
    writeFileSync(join(this.rootDir, '.test-results.json'), JSON.stringify(totals));
  }
}
