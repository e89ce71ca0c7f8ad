import { spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ROOT } from '@tollkeeper/deployment';
import { command } from './command.ts';

/** The last release of any app: the sources from which its images were built. */
export interface Release {
  /** Abbreviated, as git shows it. */
  commit: string;
  /** A folder with the files of that commit. */
  root: string;
}

/** Writes the files of the last release to `<directory>/released`. Needs the history of this repository. */
export async function findRelease(directory: string): Promise<Release> {
  const git = ['-C', ROOT];
  const commit = (
    await command('git', [...git, 'log', '-1', '--format=%h', '-G"version":', '--', 'apps/*/package.json'])
  ).trim();
  if (commit === '') throw new Error('No commit releases an app. A shallow clone has no history: fetch it whole.');
  const root = join(directory, 'released');
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  const archive = spawn('git', [...git, 'archive', commit], { stdio: ['ignore', 'pipe', 'inherit'] });
  const tar = spawn('tar', ['-x', '-C', root], { stdio: ['pipe', 'inherit', 'inherit'] });
  const unpacked = new Promise<void>((resolve, reject) => {
    tar.once('error', reject);
    tar.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`tar ended with exit code ${code}`))));
  });
  await pipeline(archive.stdout, tar.stdin);
  await unpacked;
  return { commit, root };
}
