import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { projectFolders, removeResults, sumResults } from './test-results.ts';

describe('the sum of all suites', () => {
  let root: string;

  function write(path: string, content: unknown): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), JSON.stringify(content));
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'test-results-'));
    write('package.json', { workspaces: ['apps/*', 'e2e'] });
    write('apps/one/package.json', {});
    write('e2e/package.json', {});
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('covers every workspace of the root package', () => {
    expect(projectFolders(root)).toEqual([join(root, 'apps/one'), join(root, 'e2e')]);
  });

  it('adds the tests of all projects', () => {
    write('apps/one/src/a.spec.ts', '');
    write('apps/one/.test-results.json', { suites: 1, passed: 3, failed: 1 });
    write('e2e/test/b.spec.ts', '');
    write('e2e/.test-results.json', { suites: 1, passed: 2, failed: 0 });

    expect(sumResults(projectFolders(root))).toEqual({ totals: { passed: 5, failed: 1 }, problems: [] });
  });

  it('counts a project with suites and no result as failed', () => {
    write('apps/one/src/a.spec.ts', '');

    const { totals, problems } = sumResults(projectFolders(root));
    expect(totals).toEqual({ passed: 0, failed: 1 });
    expect(problems).toEqual([expect.stringContaining('apps/one')]);
  });

  it('counts a suite that lies where jest does not look as failed', () => {
    write('apps/one/src/a.spec.ts', '');
    write('apps/one/scripts/b.spec.ts', '');
    write('apps/one/.test-results.json', { suites: 1, passed: 3, failed: 0 });

    expect(sumResults(projectFolders(root)).totals).toEqual({ passed: 3, failed: 1 });
  });

  it('takes a project without suites for passed', () => {
    expect(sumResults(projectFolders(root)).totals).toEqual({ passed: 0, failed: 0 });
  });

  it('never counts the result of an earlier run', () => {
    write('apps/one/.test-results.json', { suites: 1, passed: 3, failed: 0 });

    removeResults(projectFolders(root));
    expect(sumResults(projectFolders(root)).totals).toEqual({ passed: 0, failed: 0 });
  });
});
