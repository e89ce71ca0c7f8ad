import { execFileSync } from 'node:child_process';
import { delimiter, join, relative } from 'node:path';
import jsVersionActions from '@nx/js/src/release/version-actions';

/** How `nx release` reads and writes versions: those of package.json, the default. */
export default jsVersionActions.default;

/** Runs before the release commit, so that the commit includes the contracts of the release. */
export async function afterAllProjectsVersioned(cwd, options) {
  const updated = await jsVersionActions.afterAllProjectsVersioned(cwd, options);
  if (options.dryRun) return updated;
  const env = { ...process.env, PATH: [join(cwd, 'node_modules/.bin'), process.env.PATH].join(delimiter) };
  const output = execFileSync('node', ['tools/release/src/keep.ts'], { cwd, env, encoding: 'utf8' });
  const kept = output.split('\n').filter((file) => file !== '');
  return { ...updated, changedFiles: [...updated.changedFiles, ...kept.map((file) => relative(cwd, file))] };
}
