import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { cacheEntry } from './cache.entry.ts';

describe('an entry of the cache', () => {
  let cacheDirectory: string;
  let fills: number;
  const find = (fill: (directory: string) => Promise<void>) =>
    cacheEntry({ cacheDirectory, name: 'tool-1', activity: 'fetching the tool', fill, onProgress: () => undefined });

  async function fill(directory: string): Promise<void> {
    fills += 1;
    await writeFile(join(directory, 'tool'), 'content');
  }

  beforeEach(async () => {
    fills = 0;
    cacheDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-cache-'));
  });
  afterEach(() => rm(cacheDirectory, { recursive: true, force: true }));

  it('is filled once, however many ask at the same time', async () => {
    const entries = await Promise.all(Array.from({ length: 4 }, () => find(fill)));
    expect(new Set(entries)).toEqual(new Set([join(cacheDirectory, 'tool-1')]));
    expect(await readFile(join(await find(fill), 'tool'), 'utf8')).toBe('content');
    expect(fills).toBe(1);
    expect(await readdir(cacheDirectory)).toEqual(['tool-1']);
  });

  it('leaves nothing of an attempt that failed, and is filled by the next', async () => {
    const broken = async (directory: string): Promise<void> => {
      await fill(directory);
      throw new Error('the network is gone');
    };
    await expect(find(broken)).rejects.toThrow('the network is gone');
    expect(await readdir(cacheDirectory)).toEqual([]);
    expect(await readdir(await find(fill))).toEqual(['tool']);
  });
});
