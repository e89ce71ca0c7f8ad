// Compares the proto files with those of the last release and with those on main: buf says what would break a peer
// that still runs them. Before the first release, nobody does.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const PROTO_ROOT = join(import.meta.dirname, '..');
const RELEASED = join(PROTO_ROOT, '../tools/release/released/proto.json');

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

function compareWithMain(): void {
  const base = insideGit() ? findBase() : null;
  if (base === null) {
    console.log('buf breaking: not compared with main, since there is none with proto files');
    return;
  }
  const repository = git('rev-parse', '--path-format=absolute', '--git-common-dir');
  compare(`main at ${base.slice(0, 12)}`, `${repository}#ref=${base},subdir=proto`);
}

function compare(name: string, against: string): void {
  console.log(`buf breaking: compared with ${name}`);
  const { status } = spawnSync('buf', ['breaking', '--against', against], { cwd: PROTO_ROOT, stdio: 'inherit' });
  if (status === 0) return;
  console.error(
    `This breaks ${name}. Add fields, RPCs and messages beside the old ones; remove nothing (docs/releases.md).`,
  );
  process.exitCode = 1;
}

if (existsSync(RELEASED)) {
  compare('the last release', RELEASED);
  compareWithMain();
} else {
  console.log('buf breaking: not compared, since nothing is released');
}
