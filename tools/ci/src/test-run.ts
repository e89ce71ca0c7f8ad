import { join } from 'node:path';
import { type CommandResult, NX_ALONE, runCommand, workspaceRoot } from './command.ts';
import {
  ALONE_RUN,
  INTEGRATION_RUN,
  packageName,
  projectFolders,
  removeResults,
  type RunKind,
  STANDARD_RUN,
  sumResults,
  type TestReport,
} from './test-results.ts';

/** Its suites run whole processes, and take longer than those of all other projects. */
const LONG_PROJECT = '@tollkeeper/e2e';

/**
 * Runs the suites of all projects or of the named ones, except those on Apache Kafka. Passes their output through, and
 * adds up the results.
 */
export function runTests(projects?: string[]): Promise<TestReport> {
  return runTarget(STANDARD_RUN, ['test'], projects);
}

/**
 * The same for all other suites, of all projects or of the named ones (`@tollkeeper/event-log`). Requirements must be
 * installed: without Java or Maven the run is one failure.
 */
export async function runIntegrationTests(projects?: string[]): Promise<TestReport> {
  if (projects?.length === 0) return { passed: 0, failures: [] };
  const { exitCode } = await runCommand('node', ['libs/embedded-kafka/scripts/prepare.ts']);
  if (exitCode !== 0) return { passed: 0, failures: ['Apache Kafka could not be prepared; its output above says why'] };
  // Shows progress, because the first time takes minutes. A suite whose requirements could not be built fails with the
  // reason.
  if (projects?.includes('@tollkeeper/cluster') ?? true) await runCommand('node', ['tools/cluster/src/prepare.ts']);
  const sideBySide = await runTarget(INTEGRATION_RUN, ['test:integration', '--parallel=1'], projects);
  const alone = await runTarget(ALONE_RUN, ['test:alone', '--parallel=1'], projects, oneRun);
  return {
    passed: sideBySide.passed + alone.passed,
    failures: [...sideBySide.failures, ...alone.failures],
  };
}

const oneRun = (names: string[]): string[][] => [names];

/** The longest project beside the others, because Nx would run it last and without another. */
const longestBesideOthers = (names: string[]): string[][] => [
  names.filter((name) => name === LONG_PROJECT),
  names.filter((name) => name !== LONG_PROJECT),
];

/** `inRuns` divides the projects into concurrent runs of Nx. */
async function runTarget(
  kind: RunKind,
  target: string[],
  projects?: string[],
  inRuns = longestBesideOthers,
): Promise<TestReport> {
  if (projects?.length === 0) return { passed: 0, failures: [] };
  const all = projectFolders(workspaceRoot);
  const folders = projects === undefined ? all : all.filter((folder) => projects.includes(packageName(folder)));
  removeResults(kind, folders);
  const runs = inRuns(folders.map(packageName));
  const results = await Promise.all(runs.filter(({ length }) => length > 0).map((run) => runNx(target, run)));
  const report = sumResults(kind, folders);
  if (results.some(({ exitCode }) => exitCode !== 0) && report.failures.length === 0) {
    report.failures.push(`a project failed ${target[0]} outside of its suites; its output above says why`);
  }
  return report;
}

function runNx(target: string[], projects: string[]): Promise<CommandResult> {
  return runCommand('nx', ['run-many', '-t', ...target, `--projects=${projects.join(',')}`, '--output-style=static'], {
    env: {
      ...process.env,
      // The daemon may not have noticed that the results are gone, and would not restore them from the cache.
      ...NX_ALONE,
      // Suites start the same processes from TypeScript repeatedly, and compiling takes half of such a start.
      NODE_COMPILE_CACHE: join(workspaceRoot, 'node_modules/.cache/node'),
      NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
    },
  });
}
