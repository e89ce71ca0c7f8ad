import { join } from 'node:path';
import { type CommandResult, NX_ALONE, runCommand, workspaceRoot } from './command.ts';
import {
  addReports,
  INTEGRATION_RUN,
  packageName,
  projectFolders,
  removeResults,
  type RunKind,
  STANDARD_RUN,
  sumResults,
  type TestReport,
} from './test-results.ts';

/** Its suites run whole processes, and take about as long as those of all other projects together. */
const LONG_PROJECT = '@tollkeeper/e2e';

/**
 * The long project alone, or all others. The two may run side by side. The long one has the processor first, since
 * whole processes answer with 503 what they can't do in time.
 */
export type Part = 'e2e' | 'others';

/**
 * Runs the suites of every project, or of those named, but those on Apache Kafka, with their output passed through, and
 * adds up what they left.
 */
export async function runTests(projects?: string[]): Promise<TestReport> {
  // Side by side, as Nx would run the long one last and alone.
  return addReports(await Promise.all([runTestsOf('e2e', projects), runTestsOf('others', projects)]));
}

/** The same for one part of the projects. */
export function runTestsOf(part: Part, projects?: string[]): Promise<TestReport> {
  return runTarget(STANDARD_RUN, ['test'], part, projects);
}

/**
 * The same for the suites on Apache Kafka, of all projects or of those named (`@tollkeeper/event-log`). What they need
 * must be there: without Java or Maven the run is one failure.
 */
export async function runIntegrationTests(projects?: string[]): Promise<TestReport> {
  const kafka = await prepareKafka(projects);
  if (kafka.failures.length > 0) return kafka;
  await prepareCluster(projects);
  const others = await runIntegrationTestsOf('others', projects);
  return addReports([others, await runIntegrationTestsOf('e2e', projects)]);
}

/** The same for one part of the projects, once Kafka is prepared. */
export function runIntegrationTestsOf(part: Part, projects?: string[]): Promise<TestReport> {
  // One project after another: several suites overload what they run.
  return runTarget(INTEGRATION_RUN, ['test:integration', '--parallel=1'], part, projects);
}

/** Fetches what a broker needs. Without Java or Maven that is one failure. */
export async function prepareKafka(projects?: string[]): Promise<TestReport> {
  if (projects?.length === 0) return { passed: 0, failures: [] };
  const { exitCode } = await runCommand('node', ['tools/kafka/src/prepare.ts']);
  if (exitCode === 0) return { passed: 0, failures: [] };
  return { passed: 0, failures: ['Apache Kafka could not be prepared; its output above says why'] };
}

/**
 * Builds what the suites of the cluster need, and tells while it goes on: the first time it takes minutes. These suites
 * wait for a build that goes on. One that needs what could not be built fails, and says why.
 */
export async function prepareCluster(projects?: string[]): Promise<void> {
  if (projects?.includes('@tollkeeper/cluster') === false) return;
  await runCommand('node', ['tools/cluster/src/prepare.ts'], { lowPriority: true });
}

function foldersOf(part: Part, projects?: string[]): string[] {
  return projectFolders(workspaceRoot).filter((folder) => {
    const name = packageName(folder);
    return (name === LONG_PROJECT) === (part === 'e2e') && (projects?.includes(name) ?? true);
  });
}

async function runTarget(
  kind: RunKind,
  target: string[],
  part: Part,
  projects: string[] | undefined,
): Promise<TestReport> {
  const folders = foldersOf(part, projects);
  if (folders.length === 0) return { passed: 0, failures: [] };
  removeResults(kind, folders);
  const { exitCode } = await runNx(target, folders.map(packageName), part === 'others');
  const report = sumResults(kind, folders);
  if (exitCode !== 0 && report.failures.length === 0) {
    report.failures.push(`a project failed ${target[0]} outside of its suites; its output above says why`);
  }
  return report;
}

function runNx(target: string[], projects: string[], lowPriority: boolean): Promise<CommandResult> {
  return runCommand('nx', ['run-many', '-t', ...target, `--projects=${projects.join(',')}`, '--output-style=static'], {
    lowPriority,
    env: {
      ...process.env,
      // The daemon may not have noticed yet that the results are gone, and would not restore them from the cache.
      ...NX_ALONE,
      // Suites start the same processes from their TypeScript again and again; compiling is half of such a start.
      NODE_COMPILE_CACHE: join(workspaceRoot, 'node_modules/.cache/node'),
      NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
    },
  });
}
