import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { ALONE_RUN, INTEGRATION_RUN, projectFolders, removeResults, STANDARD_RUN, sumResults } from './test-results.ts';

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

  it('adds the tests of all projects, and says where each failure is', () => {
    write('apps/one/src/a.spec.ts', '');
    write('apps/one/.test-results.json', {
      suites: ['src/a.spec.ts'],
      passed: 3,
      failures: ['src/a.spec.ts: adds\n4'],
    });
    write('e2e/test/b.spec.ts', '');
    write('e2e/.test-results.json', { suites: ['test/b.spec.ts'], passed: 2, failures: [] });

    expect(sumResults(STANDARD_RUN, projectFolders(root))).toEqual({
      passed: 5,
      failures: [`${join(root, 'apps/one/src/a.spec.ts')}: adds\n4`],
    });
  });

  it('counts a project with suites and no result as failed', () => {
    write('apps/one/src/a.spec.ts', '');

    expect(sumResults(STANDARD_RUN, projectFolders(root))).toEqual({
      passed: 0,
      failures: [expect.stringContaining('apps/one/src/a.spec.ts')],
    });
  });

  it('counts a suite that lies where jest does not look as failed', () => {
    write('apps/one/src/a.spec.ts', '');
    write('apps/one/scripts/b.spec.ts', '');
    write('apps/one/.test-results.json', { suites: ['src/a.spec.ts'], passed: 3, failures: [] });

    expect(sumResults(STANDARD_RUN, projectFolders(root))).toEqual({
      passed: 3,
      failures: [expect.stringContaining('apps/one/scripts/b.spec.ts')],
    });
  });

  it.each([
    { kind: 'kafka', run: INTEGRATION_RUN },
    { kind: 'tools', run: INTEGRATION_RUN },
    { kind: 'alone', run: ALONE_RUN },
  ])('counts a suite of $kind in its run and in no other', ({ kind, run }) => {
    write(`apps/one/test/a.${kind}.spec.ts`, '');

    const failures = [STANDARD_RUN, INTEGRATION_RUN, ALONE_RUN].map(
      (each) => sumResults(each, projectFolders(root)).failures.length,
    );
    expect(failures).toEqual([STANDARD_RUN, INTEGRATION_RUN, ALONE_RUN].map((each) => (each === run ? 1 : 0)));

    write(`apps/one/${run.resultsFile}`, { suites: [`test/a.${kind}.spec.ts`], passed: 4, failures: [] });
    expect(sumResults(run, projectFolders(root))).toEqual({ passed: 4, failures: [] });
  });

  it('takes a project without suites for passed', () => {
    expect(sumResults(STANDARD_RUN, projectFolders(root))).toEqual({ passed: 0, failures: [] });
  });

  it('never counts the result of an earlier run', () => {
    write('apps/one/.test-results.json', { suites: ['src/a.spec.ts'], passed: 3, failures: [] });

    removeResults(STANDARD_RUN, projectFolders(root));
    expect(sumResults(STANDARD_RUN, projectFolders(root))).toEqual({ passed: 0, failures: [] });
  });

  it('repeats of a failure only its beginning', () => {
    const lines = Array.from({ length: 100 }, (_, line) => `line ${line}`);
    write('apps/one/.test-results.json', { suites: [], passed: 0, failures: [lines.join('\n')] });

    const [failure] = sumResults(STANDARD_RUN, projectFolders(root)).failures;
    expect(failure).toContain('line 5');
    expect(failure).not.toContain('line 50');
  });
});
