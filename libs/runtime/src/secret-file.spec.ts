import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readOrCreateSecretFile } from './secret-file.ts';

describe('readOrCreateSecretFile', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tollkeeper-secret-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('makes the secret once, readable by its owner only, and answers it from then on', async () => {
    const file = join(directory, 'data', 'secret');
    expect(await readOrCreateSecretFile(file, () => 'first')).toBe('first');
    expect(await readOrCreateSecretFile(file, () => 'second')).toBe('first');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(directory, 'data'))).toEqual(['secret']);
  });

  it('makes it anew where a crash left an empty file', async () => {
    const file = join(directory, 'secret');
    await writeFile(file, '');
    expect(await readOrCreateSecretFile(file, () => 'new')).toBe('new');
  });

  it('does not replace a secret that it cannot read', async () => {
    await expect(readOrCreateSecretFile(directory, () => 'new')).rejects.toThrow('EISDIR');
  });
});
