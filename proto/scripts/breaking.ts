// Compares the proto files with those on main: buf says what would break a peer that runs them. Before the first
// release, nobody does.
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

/** Each release leaves the tag of its service. */
function isReleased(): boolean {
  return git('tag', '--list', '@tollkeeper/*') !== '';
}

const base = insideGit() && isReleased() ? findBase() : null;
if (base === null) {
  console.log('buf breaking: not compared with main, since nothing is released or main has no proto files');
} else {
  console.log(`buf breaking: compared with main at ${base.slice(0, 12)}`);
  const repository = git('rev-parse', '--path-format=absolute', '--git-common-dir');
  const against = `${repository}#ref=${base},subdir=proto`;
  const { status } = spawnSync('buf', ['breaking', '--against', against], { cwd: PROTO_ROOT, stdio: 'inherit' });
  if (status !== 0) {
    console.error(
      'This breaks main. Add fields, RPCs and messages beside the old ones; remove nothing (docs/releases.md).',
    );
    process.exitCode = 1;
  }
}
