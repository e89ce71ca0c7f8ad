import { beforeAll, describe, expect, it } from '@jest/globals';
import { ESLint } from 'eslint';
import { resolve } from 'node:path';
import tseslint from 'typescript-eslint';

const workspace = resolve(import.meta.dirname, '../../..');

const REFUSED = [
  '<p>Nothing here</p>',
  '<><b /> words</>',
  '<img alt="mark" />',
  '<div aria-label="list" />',
  '<div aria-label={"list"} />',
  '<div aria-label={`agents`} />',
  '<div aria-roledescription="chart" />',
  '<input placeholder="name" />',
  '<a title="more">{1}</a>',
  '<Field label="Name" />',
  '<p>{busy ? "Saving" : text.save}</p>',
  'toast("It is saved.")',
  'toast(`It is saved.`)',
];

const ACCEPTED = [
  '<p>{text.none} · {1} %</p>',
  '<div aria-label={text.list} className="table" data-tone="bad" />',
  '<Segments value={mode === "a" ? "agent" : "model"} />',
  'event.key === "Escape"',
  'new Error("outside of a workspace")',
];

describe('texts of the console', () => {
  let eslint: ESLint;

  beforeAll(() => {
    // The probes exist only as text at a path, so rules with types, which read the disk, are off.
    eslint = new ESLint({ cwd: workspace, overrideConfig: tseslint.configs.disableTypeChecked });
  });

  async function rulesBrokenBy(code: string, path: string): Promise<unknown[]> {
    const filePath = resolve(workspace, 'apps/console/web/src', path);
    const [result] = await eslint.lintText(`export const probe = ${code};\n`, { filePath });
    return result!.messages.map(({ ruleId, message }) => ruleId ?? message);
  }

  it.each(REFUSED)('lint fails on %s', async (code) => {
    expect(await rulesBrokenBy(code, 'pages/x.tsx')).toEqual(['no-restricted-syntax']);
  });

  it.each(ACCEPTED)('lint passes %s', async (code) => {
    expect(await rulesBrokenBy(code, 'pages/x.tsx')).toEqual([]);
  });

  it('lint passes words in the folder of texts', async () => {
    expect(await rulesBrokenBy('{ saved: "It is saved." }', 'text/x.ts')).toEqual([]);
  });
});
