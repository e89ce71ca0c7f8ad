import { runCommand, workspaceRoot } from './command.ts';
import { projectFolders, removeResults, sumResults, type Totals } from './test-results.ts';

/** Runs the suites of every project, with their output passed through, and adds up what they left. */
export async function runAllTests(): Promise<Totals> {
  const folders = projectFolders(workspaceRoot);
  removeResults(folders);
  const { exitCode } = await runCommand('nx', ['run-many', '-t', 'test', '--output-style=static'], {
    // The daemon may not have noticed yet that the results are gone, and would not restore them from the cache.
    env: { ...process.env, NX_DAEMON: 'false' },
  });
  const { totals, problems } = sumResults(folders);
  for (const problem of problems) console.error(problem);
  if (exitCode !== 0 && totals.failed === 0) {
    console.error('A project failed outside of its tests; its output above says why.');
    return { ...totals, failed: 1 };
  }
  return totals;
}
