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

/** The projects whose suites take longest. */
const LONGEST = ['@tollkeeper/e2e', '@tollkeeper/enforcer'];

/** A run of Nx, and how many of its projects run at a time. */
interface NxRun {
  projects: string[];
  atOnce: number;
}

/**
 * Runs the suites of all projects or of the named ones, except those on Apache Kafka. Passes their output through, and
 * adds up the results.
 */
export function runTests(projects?: string[]): Promise<TestReport> {
  return runTarget(STANDARD_RUN, 'test', projects, longestBeside(2));
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
  const sideBySide = await runTarget(INTEGRATION_RUN, 'test:integration', projects, longestBeside(1));
  const alone = await runTarget(ALONE_RUN, 'test:alone', projects, oneByOne);
  return {
    passed: sideBySide.passed + alone.passed,
    failures: [...sideBySide.failures, ...alone.failures],
  };
}

const oneByOne = (projects: string[]): NxRun[] => [{ projects, atOnce: 1 }];

/**
 * The longest projects one after another, and beside them the others, this many at a time. A single run would begin
 * with any of them, and might have only the longest left at its end.
 */
const longestBeside =
  (atOnce: number) =>
  (projects: string[]): NxRun[] => [
    { projects: projects.filter((name) => LONGEST.includes(name)), atOnce: 1 },
    { projects: projects.filter((name) => !LONGEST.includes(name)), atOnce },
  ];

async function runTarget(
  kind: RunKind,
  target: string,
  projects: string[] | undefined,
  divide: (projects: string[]) => NxRun[],
): Promise<TestReport> {
  if (projects?.length === 0) return { passed: 0, failures: [] };
  const all = projectFolders(workspaceRoot);
  const folders = projects === undefined ? all : all.filter((folder) => projects.includes(packageName(folder)));
  removeResults(kind, folders);
  const runs = divide(folders.map(packageName)).filter((run) => run.projects.length > 0);
  const results = await Promise.all(runs.map((run) => runNx(target, run)));
  const report = sumResults(kind, folders);
  if (results.some(({ exitCode }) => exitCode !== 0) && report.failures.length === 0) {
    report.failures.push(`a project failed ${target} outside of its suites; its output above says why`);
  }
  return report;
}

function runNx(target: string, { projects, atOnce }: NxRun): Promise<CommandResult> {
  const args = ['run-many', '-t', target, `--projects=${projects.join(',')}`, `--parallel=${atOnce}`];
  return runCommand('nx', [...args, '--output-style=static'], {
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
