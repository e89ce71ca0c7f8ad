import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { systemCause } from '@tollkeeper/contracts';
import type { EnsureOwner } from '@tollkeeper/identity';
import type { KeyUseCases } from '@tollkeeper/keys';
import { type Clock, randomBase62, type TenantId } from '@tollkeeper/kernel';
import type { StandaloneConfig } from './config.ts';
import type { FirstStart, FirstStartStore } from './first-start.store.ts';
import type { Terminal } from './terminal.ts';

const WORKSPACE = { slug: 'demo', name: 'Demo', timezone: 'UTC' };
const OWNER_NAME = 'Owner';
const KEY_NAME = 'First developer key';
const PASSWORD_LENGTH = 24;

export interface FirstStartDeps {
  config: StandaloneConfig;
  store: FirstStartStore;
  ensureOwner: EnsureOwner;
  keys: Pick<KeyUseCases, 'list' | 'create' | 'revoke'>;
  /** Writes the sample traffic that ends at `until` (epoch milliseconds); repeating it counts nothing twice. */
  writeSample: (owner: { userId: string; tenantId: TenantId; name: string }, until: number) => Promise<void>;
  terminal: Terminal;
  clock: Clock;
}

/** The results of the first start that later starts need. */
export type Installation = Pick<FirstStart, 'ownerEmail' | 'demo'> & { tenantId: TenantId };

/**
 * Creates the workspace, its owner and one developer key, writes the sample traffic, and shows the credentials once.
 *
 * If a start dies on the way, the next one completes it: every step can be repeated. As long as nobody can have seen
 * the password and the key, both are replaced. Once shown, they are never changed again.
 */
export async function completeFirstStart(deps: FirstStartDeps): Promise<Installation> {
  const { config, store, ensureOwner, keys, writeSample, terminal, clock } = deps;
  const state = await store.begin({
    begunAt: clock(),
    ownerEmail: config.TOLLKEEPER_OWNER_EMAIL.toLowerCase(),
    demo: config.TOLLKEEPER_DEMO,
  });
  if (state.finished && state.tenantId !== null) return { ...state, tenantId: state.tenantId };

  const password = config.TOLLKEEPER_OWNER_PASSWORD ?? randomBase62(PASSWORD_LENGTH);
  const { userId, tenantId } = await ensureOwner({
    email: state.ownerEmail,
    name: OWNER_NAME,
    password,
    workspace: WORKSPACE,
  });
  if (state.demo && !state.sampleWritten) {
    await writeSample({ userId, tenantId, name: OWNER_NAME }, state.begunAt);
    await store.update({ sampleWritten: true });
  }
  const apiKey = await replaceFirstKey(keys, tenantId);
  const apiKeyFile = await writeKeyFile(config.TOLLKEEPER_DEMO_KEY_FILE, apiKey);
  terminal.credentials({
    workspace: WORKSPACE.slug,
    ownerEmail: state.ownerEmail,
    ownerPassword: config.TOLLKEEPER_OWNER_PASSWORD === undefined ? password : null,
    apiKey,
    apiKeyFile,
  });
  await store.update({ tenantId, finished: true });
  return { ...state, tenantId };
}

async function replaceFirstKey(keys: FirstStartDeps['keys'], tenantId: TenantId): Promise<string> {
  for (const { id, name, revokedAt } of await keys.list(tenantId)) {
    if (name === KEY_NAME && revokedAt === null)
      await keys.revoke(tenantId, id, systemCause('key.revoke', 'standalone'));
  }
  const { apiKey } = await keys.create(
    tenantId,
    { name: KEY_NAME, role: 'developer' },
    systemCause('key.create', 'standalone'),
  );
  return apiKey;
}

async function writeKeyFile(file: string | undefined, apiKey: string): Promise<string | null> {
  if (file === undefined) return null;
  const path = resolve(file);
  // The mode only applies to new files, and an existing one may be readable by others: never write a secret into that.
  await rm(path, { force: true });
  await writeFile(path, `${apiKey}\n`, { mode: 0o600 });
  return path;
}
