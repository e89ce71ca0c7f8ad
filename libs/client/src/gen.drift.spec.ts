import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const GENERATED = join(import.meta.dirname, 'gen');
const SCRIPT = join(import.meta.dirname, '../scripts/generate.ts');

function read(directory: string): Record<string, string> {
  return Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), 'utf8')]));
}

it('has committed what docs/openapi.json generates; otherwise `npm run gen -w @tollkeeper/client` and commit', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tollkeeper-client-gen-'));
  try {
    execFileSync(process.execPath, [SCRIPT, directory], { stdio: ['ignore', 'ignore', 'inherit'] });
    expect(read(GENERATED)).toEqual(read(directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
