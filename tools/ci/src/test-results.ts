import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A kind of test run: its suites, and the file in which each project leaves its totals. */
export interface RunKind {
  resultsFile: string;
  takes(suite: string): boolean;
}

/** Suites that need Apache Kafka, or tools that npm does not install. */
const INTEGRATION_SUITE = /\.(kafka|tools)\.spec\.ts$/;

/** Suites that need an otherwise idle machine. */
const ALONE_SUITE = /\.alone\.spec\.ts$/;

/** `npm test`: every suite that needs only `npm ci` and may share the machine. */
export const STANDARD_RUN: RunKind = {
  resultsFile: '.test-results.json',
  takes: (suite) => !INTEGRATION_SUITE.test(suite) && !ALONE_SUITE.test(suite),
};

/** The first part of `npm run test:integration`: suites that run side by side. */
export const INTEGRATION_RUN: RunKind = {
  resultsFile: '.integration-results.json',
  takes: (suite) => INTEGRATION_SUITE.test(suite),
};

/** The second part: suites that run one at a time, after all others. */
export const ALONE_RUN: RunKind = {
  resultsFile: '.alone-results.json',
  takes: (suite) => ALONE_SUITE.test(suite),
};

/** The results of one or more projects. A suite that could not run is one failure. */
export interface TestReport {
  passed: number;
  /** The location and message of each failure. */
  failures: string[];
}

/** What `count-reporter.js` writes for a project. */
interface ProjectResult extends TestReport {
  /** The suites that ran, by their paths in the project. */
  suites: string[];
}

/** Lines of a failure that the report repeats. The suite's own output has the rest. */
const FAILURE_LINES = 12;

/** Folders of the npm workspaces below `root`, from the root package.json. */
export function projectFolders(root: string): string[] {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
  return workspaces
    .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
    .map((file) => join(root, file, '..'))
    .sort();
}

/** Name of the project in `folder`, from its package.json. */
export function packageName(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string }).name;
}

/** Removes the results of earlier runs, so that an interrupted run does not count an old result. */
export function removeResults({ resultsFile }: RunKind, folders: string[]): void {
  for (const folder of folders) rmSync(join(folder, resultsFile), { force: true });
}

/**
 * Adds up the projects' results. Every suite on disk without a result is one failure: the run was interrupted, or jest
 * does not find the suite.
 */
export function sumResults(kind: RunKind, folders: string[]): TestReport {
  const report: TestReport = { passed: 0, failures: [] };
  for (const folder of folders) {
    const { suites, passed, failures } = readResult(join(folder, kind.resultsFile));
    const missing = suitesIn(folder, kind).filter((suite) => !suites.includes(suite));
    report.passed += passed;
    report.failures.push(...failures.map((failure) => join(folder, firstLines(failure))));
    report.failures.push(...missing.map((suite) => `${join(folder, suite)}: left no result`));
  }
  return report;
}

/** Prints every failure again, so that the end of a long run says what to fix, and the totals as the last line. */
export function printReport({ passed, failures }: TestReport): void {
  for (const failure of failures) console.error(`\n✕ ${failure}`);
  console.log(`\n${passed} passed, ${failures.length} failed`);
}

function firstLines(text: string): string {
  return text.split('\n', FAILURE_LINES).join('\n');
}

function readResult(file: string): ProjectResult {
  if (!existsSync(file)) return { suites: [], passed: 0, failures: [] };
  return JSON.parse(readFileSync(file, 'utf8')) as ProjectResult;
}

function suitesIn(folder: string, { takes }: RunKind): string[] {
  const suites = globSync('**/*.spec.{ts,tsx,js}', {
    cwd: folder,
    exclude: ['**/node_modules', '**/dist', '**/fixtures'],
  });
  return suites.map((suite) => suite.replaceAll(sep, '/')).filter(takes);
}
