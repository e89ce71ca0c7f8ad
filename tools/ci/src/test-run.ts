import { NX_ALONE, runCommand, workspaceRoot } from './command.ts';
import {
  INTEGRATION_RUN,
  packageName,
  projectFolders,
  removeResults,
  type RunKind,
  STANDARD_RUN,
  sumResults,
  type TestReport,
} from './test-results.ts';

/**
 * Runs the suites of every project, or of those named, but those on Apache Kafka, with their output passed through, and
 * adds up what they left.
 */
export function runTests(projects?: string[]): Promise<TestReport> {
  return runTarget(STANDARD_RUN, ['test'], projects);
}

/**
 * The same for the suites on Apache Kafka, of all projects or of those named (`@tollkeeper/event-log`). What they need
 * must be there: without Java or Maven the run is one failure.
 */
export async function runIntegrationTests(projects?: string[]): Promise<TestReport> {
  if (projects?.length === 0) return { passed: 0, failures: [] };
  const { exitCode } = await runCommand('node', ['tools/kafka/src/prepare.ts']);
  if (exitCode !== 0) return { passed: 0, failures: ['Apache Kafka could not be prepared; its output above says why'] };
  // Told while it goes on: the first time it takes minutes. A suite that needs what could not be built fails, and says
  // why.
  if (projects?.includes('@tollkeeper/cluster') ?? true) await runCommand('node', ['tools/cluster/src/prepare.ts']);
  // One after another: several suites overload what they run, and the others must be answered all the same.
  return runTarget(INTEGRATION_RUN, ['test:integration', '--parallel=1'], projects);
}

async function runTarget(kind: RunKind, target: string[], projects?: string[]): Promise<TestReport> {
  if (projects?.length === 0) return { passed: 0, failures: [] };
  const all = projectFolders(workspaceRoot);
  const folders = projects === undefined ? all : all.filter((folder) => projects.includes(packageName(folder)));
  removeResults(kind, folders);
  const chosen = projects === undefined ? [] : [`--projects=${projects.join(',')}`];
  const { exitCode } = await runCommand('nx', ['run-many', '-t', ...target, ...chosen, '--output-style=static'], {
    env: {
      ...process.env,
      // The daemon may not have noticed yet that the results are gone, and would not restore them from the cache.
      ...NX_ALONE,
      NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
    },
  });
  const report = sumResults(kind, folders);
  if (exitCode !== 0 && report.failures.length === 0) {
    report.failures.push(`a project failed ${target[0]} outside of its suites; its output above says why`);
  }
  return report;
}
