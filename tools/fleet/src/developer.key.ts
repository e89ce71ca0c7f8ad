import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const KEY_NAME = 'First developer key';

export interface KeyOptions {
  baseUrl: string;
  owner: { email: string; password: string };
  /** Slug of the owner's workspace. */
  workspace: string;
  /** Contains the key in `developer.key`, readable only by its owner. */
  dataDirectory: string;
}

/** The key in the data directory if it is valid in the workspace, else a new one, created through the API. */
export async function findOrCreateKey(options: KeyOptions): Promise<{ apiKey: string; created: boolean }> {
  const { baseUrl, owner, workspace, dataDirectory } = options;
  const cookie = await logIn(baseUrl, owner);
  const keysUrl = `${baseUrl}/w/${workspace}/api/v1/management/workspace-keys`;
  const headers = { cookie, 'content-type': 'application/json' };

  const file = join(dataDirectory, 'developer.key');
  const stored = (await readFile(file, 'utf8').catch(() => '')).trim();
  const { items } = await json<{ items: { id: string; revoked_at: string | null }[] }>(
    await fetch(keysUrl, { headers }),
  );
  const known = items.some(({ id, revoked_at }) => revoked_at === null && stored.startsWith(`ws_live_${id}.`));
  if (known) return { apiKey: stored, created: false };

  const body = JSON.stringify({ name: KEY_NAME, role: 'developer' });
  const { api_key: apiKey } = await json<{ api_key: string }>(await fetch(keysUrl, { method: 'POST', headers, body }));
  // The mode applies to new files only. An old file may be readable by others: never write a secret into that.
  await rm(file, { force: true });
  await writeFile(file, `${apiKey}\n`, { mode: 0o600 });
  return { apiKey, created: true };
}

async function logIn(baseUrl: string, owner: KeyOptions['owner']): Promise<string> {
  const answer = await fetch(`${baseUrl}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(owner),
  });
  if (answer.status === 401) {
    throw new Error(
      `${owner.email} can't log in: this MongoDB has users already, and another password for this one. Set FIRST_OWNER_EMAIL and ` +
        'FIRST_OWNER_PASSWORD to an owner of its workspace demo, or MONGODB_URI to an empty server.',
    );
  }
  await json(answer);
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

async function json<T>(answer: Response): Promise<T> {
  if (!answer.ok) throw new Error(`${new URL(answer.url).pathname}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
