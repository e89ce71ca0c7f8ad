// Compares the proto files with those on main: buf says what would break a peer that still runs main.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PROTO_ROOT = join(import.meta.dirname, '..');

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: PROTO_ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** The commit to compare with, the same for a branch that lags behind main; null when main has no proto files. */
function findBase(): string | null {
  for (const branch of ['origin/main', 'main']) {
    try {
      const base = git('merge-base', 'HEAD', branch);
      return git('ls-tree', '-r', '--name-only', base, '--', '.').includes('.proto') ? base : null;
    } catch {
      // No such branch in this clone.
    }
  }
  return null;
}

function insideGit(): boolean {
  try {
    return git('rev-parse', '--is-inside-work-tree') === 'true';
  } catch {
    return false;
  }
}

const base = insideGit() ? findBase() : null;
if (base === null) {
  console.log('buf breaking: not compared, since there is no main branch with proto files to compare with');
} else {
  const repository = git('rev-parse', '--path-format=absolute', '--git-common-dir');
  const against = `${repository}#ref=${base},subdir=proto`;
  console.log(`buf breaking: compared with ${base.slice(0, 12)}`);
  process.exitCode =
    spawnSync('buf', ['breaking', '--against', against], { cwd: PROTO_ROOT, stdio: 'inherit' }).status ?? 1;
}
