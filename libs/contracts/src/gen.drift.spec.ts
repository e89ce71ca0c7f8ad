import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { generate, GENERATED_DIRECTORY } from '../scripts/generate.ts';

function read(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name));
  return Object.fromEntries(paths.map((path) => [path.slice(directory.length), readFileSync(path, 'utf8')]));
}

it('has committed what the proto files generate; otherwise `npm run gen -w @tollkeeper/contracts` and commit', () => {
  const directory = mkdtempSync(join(tmpdir(), 'tollkeeper-gen-'));
  try {
    generate(directory);
    expect(read(GENERATED_DIRECTORY)).toEqual(read(directory));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
