import { afterAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { parsePriceTable } from '@tollkeeper/prices';
import { importFile } from './import-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'prices-'));
afterAll(() => rmSync(folder, { recursive: true }));

const tableFile = join(folder, 'table.json.gz');
const textOf = (file: string) => gunzipSync(readFileSync(file)).toString('utf8');

function litellmFile(models: Record<string, unknown>): string {
  const file = join(folder, 'litellm.json');
  writeFileSync(file, JSON.stringify(models));
  return file;
}

const gpt4o = (input: number) => ({ 'gpt-4o': { litellm_provider: 'openai', input_cost_per_token: input } });

describe('an import', () => {
  it('makes the table, changes nothing with the same file, and adds to it with another one', () => {
    const file = litellmFile(gpt4o(5e-6));
    const first = importFile({ litellmFile: file, tableFile, date: '2026-01-01' });
    expect(first).toMatchObject({ newModels: 1, opened: 1, closed: 0 });
    // Another version of zlib writes other bytes.
    writeFileSync(tableFile, gzipSync(textOf(tableFile), { level: 1 }));
    const before = readFileSync(tableFile);
    const again = importFile({ litellmFile: file, tableFile, date: '2026-02-01' });
    expect(again).toMatchObject({ opened: 0, closed: 0, version: first.version });
    expect(readFileSync(tableFile)).toEqual(before);

    const next = importFile({ litellmFile: litellmFile(gpt4o(2.5e-6)), tableFile, date: '2026-03-01' });
    const table = parsePriceTable(textOf(tableFile));
    expect(
      table.rows.map(({ micros_per_mtok, valid_from, valid_to }) => [micros_per_mtok, valid_from, valid_to]),
    ).toEqual([
      [5_000_000, undefined, '2026-03-01'],
      [2_500_000, '2026-03-01', undefined],
    ]);
    expect([table.version, table.version === first.version]).toEqual([next.version, false]);
  });

  it('writes nothing from a file that it refuses, or that would make a table which the product refuses', () => {
    const none = join(folder, 'none.gz');
    const options = { tableFile: none, date: '2026-01-01' };
    expect(() => importFile({ ...options, litellmFile: litellmFile(gpt4o(-1)) })).toThrow(
      'gpt-4o: input_cost_per_token',
    );
    expect(() => importFile({ ...options, litellmFile: litellmFile(gpt4o(1)) })).toThrow(
      'Row 1 (gpt-4o): micros_per_mtok',
    );
    expect(existsSync(none)).toBe(false);
  });

  it('refuses a table with odd rows, and names row and field', () => {
    const odd = join(folder, 'odd.gz');
    writeFileSync(odd, gzipSync('{"rows":[{"id":"m"}]}'));
    const options = { tableFile: odd, date: '2026-01-01', litellmFile: litellmFile(gpt4o(1e-6)) };
    expect(() => importFile(options)).toThrow('Row 1 (m): provider: ');
  });
});
