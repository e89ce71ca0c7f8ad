import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const RESULTS_FILE = '.test-results.json';

/** Tests over one or more projects. A suite that could not run counts as one failed test. */
export interface Totals {
  passed: number;
  failed: number;
}

/** Folders of the npm workspaces below `root`, as the root package.json names them. */
export function projectFolders(root: string): string[] {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { workspaces: string[] };
  return workspaces
    .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
    .map((file) => join(root, file, '..'))
    .sort();
}

/** Removes what earlier runs left, so that a run that breaks off is not counted by an old result. */
export function removeResults(folders: string[]): void {
  for (const folder of folders) rmSync(join(folder, RESULTS_FILE), { force: true });
}

/**
 * Adds up what the projects left. Every suite on disk that no result accounts for is one failure: the run broke off,
 * or the suite lies where jest does not look.
 */
export function sumResults(folders: string[]): { totals: Totals; problems: string[] } {
  const totals: Totals = { passed: 0, failed: 0 };
  const problems: string[] = [];
  for (const folder of folders) {
    const { suites, passed, failed } = readResult(folder);
    totals.passed += passed;
    totals.failed += failed;
    const missing = countSuites(folder) - suites;
    if (missing > 0) {
      totals.failed += missing;
      problems.push(`${folder}: ${missing} suite(s) left no result`);
    }
  }
  return { totals, problems };
}

function readResult(folder: string): Totals & { suites: number } {
  const file = join(folder, RESULTS_FILE);
  if (!existsSync(file)) return { suites: 0, passed: 0, failed: 0 };
  return JSON.parse(readFileSync(file, 'utf8')) as Totals & { suites: number };
}

function countSuites(folder: string): number {
  return globSync('**/*.spec.{ts,tsx,js}', { cwd: folder, exclude: ['**/node_modules', '**/dist', '**/fixtures'] })
    .length;
}
