import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { createManagementApi } from '@tollkeeper/client';
import { z } from 'zod';
import { EXIT, Failure } from './failure.ts';

const schema = z.object({
  url: z.string(),
  email: z.string(),
  /** Value of the cookie `gw_session`. */
  session: z.string(),
  /** Slug of the workspace that commands use without `--workspace`. */
  workspace: z.string().nullable(),
});
export type Session = z.output<typeof schema>;

/** In the user's configuration folder, as each system has it. */
export function sessionPath(env: NodeJS.ProcessEnv = process.env): string {
  const windows = process.platform === 'win32' ? env['APPDATA'] : undefined;
  return join(env['XDG_CONFIG_HOME'] || windows || join(homedir(), '.config'), 'tollkeeper', 'session.json');
}

/** Null without a session. */
export async function findSession(): Promise<Session | null> {
  const path = sessionPath();
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw new Failure(`${path} cannot be read (${error.code}). Make it readable for you, or remove it and log in.`);
  });
  if (text === null) return null;
  try {
    const session = schema.parse(JSON.parse(text));
    // Throws for an address or a cookie that cannot be sent.
    createManagementApi({ url: session.url, session: session.session });
    return session;
  } catch {
    throw new Failure(`${path} is not a session. Remove the file, then run \`tollkeeper login\`.`, EXIT.notLoggedIn);
  }
}

export async function requireSession(): Promise<Session> {
  const session = await findSession();
  if (session !== null) return session;
  throw new Failure('You are not logged in. Run `tollkeeper login --url …`.', EXIT.notLoggedIn);
}

/** Readable for the user alone. A rename replaces the file, so no reader sees half of it. */
export async function saveSession(session: Session): Promise<void> {
  const path = sessionPath();
  const next = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(next, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true }).catch(() => undefined);
    throw notWritable(path, error);
  }
}

export async function removeSession(): Promise<void> {
  const path = sessionPath();
  await rm(path, { force: true }).catch((error: unknown) => {
    throw notWritable(path, error);
  });
}

function notWritable(path: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException;
  return new Failure(`${path} cannot be written (${code}). Make its folder writable, or set XDG_CONFIG_HOME.`);
}
