import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { findSession, saveSession } from './session.file.ts';

const { XDG_CONFIG_HOME } = process.env;
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollkeeper-cli-'));
  process.env['XDG_CONFIG_HOME'] = folder;
});
afterEach(async () => {
  if (XDG_CONFIG_HOME === undefined) delete process.env['XDG_CONFIG_HOME'];
  else process.env['XDG_CONFIG_HOME'] = XDG_CONFIG_HOME;
  await rm(folder, { recursive: true });
});

const session = { url: 'https://a.example', email: 'a@a.example', session: 'S3CRET', workspace: null };

it.each([{ url: 'nonsense' }, { session: 'a; b' }, { email: 1 }])('a file with %j is no session', async (wrong) => {
  await saveSession(session);
  await expect(findSession()).resolves.toEqual(session);
  await writeFile(join(folder, 'tollkeeper', 'session.json'), JSON.stringify({ ...session, ...wrong }));
  await expect(findSession()).rejects.toThrow(/is not a session\. Remove the file, then run `tollkeeper login`/);
});

it('a session that cannot be saved is refused with its path and what to do, and leaves no copy of itself', async () => {
  await mkdir(join(folder, 'tollkeeper', 'session.json'), { recursive: true });
  await writeFile(join(folder, 'tollkeeper', 'session.json', 'occupied'), '');
  await expect(saveSession(session)).rejects.toThrow(/session\.json cannot be written .*XDG_CONFIG_HOME/);
  expect(await readdir(join(folder, 'tollkeeper'))).toEqual(['session.json']);
});
