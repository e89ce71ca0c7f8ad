import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Faults } from './provider.ts';

const MAIN = join(import.meta.dirname, '../scripts/main.ts');
const START_TIMEOUT_MS = 60_000;

/** A provider in the form of the setting `OIDC_PROVIDERS`. */
export interface ProviderSettings extends Record<string, unknown> {
  id: string;
  issuer: string;
  client_id: string;
  client_secret: string;
  mapping: { claim: string; value: string; workspace: string; role: string }[];
}

/** A real OpenID Connect provider in its own process. */
export interface SsoProvider {
  readonly issuer: string;
  /** Tollkeeper's settings for it, overridden by `change`. */
  settings(change?: Partial<ProviderSettings>): ProviderSettings;
  /** Replaces the people who can log in, by their names, which are their subjects. */
  setPeople(people: Record<string, Record<string, unknown>>): Promise<void>;
  /** Sets the faults of the provider; `{}` for none. */
  setFaults(faults: Faults): Promise<void>;
  stop(): Promise<void>;
}

export interface SsoProviderOptions {
  tls?: boolean;
  claimsInIdToken?: boolean;
}

/** Starts it as `npm run sso:provider` does. If it ends before it is ready, rejects with its output. */
export async function startSsoProvider(options: SsoProviderOptions = {}): Promise<SsoProvider> {
  const { tls = false, claimsInIdToken = false } = options;
  const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-sso-'));
  const flags = [...(tls ? ['--tls'] : []), ...(claimsInIdToken ? ['--claims-in-id-token'] : [])];
  const child = spawn(process.execPath, [MAIN, '--port', '0', '--directory', directory, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  let printed = '';
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk;
      if (printed.includes('OIDC_PROVIDERS_FILE=')) resolve();
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The provider ended with ${code}.\n${printed}`)));
    setTimeout(() => reject(new Error(`The provider was not ready in time.\n${printed}`)), START_TIMEOUT_MS).unref();
  });
  const [own] = JSON.parse(await readFile(join(directory, 'providers.json'), 'utf8')) as [ProviderSettings];

  async function control(what: 'people' | 'faults', value: unknown): Promise<void> {
    const url = `${own.issuer}/control/${what}`;
    // Its certificate is self-signed, and is tested where Tollkeeper connects to it.
    const call = tls ? requestTls(url, { method: 'PUT', rejectUnauthorized: false }) : request(url, { method: 'PUT' });
    call.end(JSON.stringify(value));
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    response.resume();
    await once(response, 'end');
  }

  return {
    issuer: own.issuer,
    settings: (change = {}) => ({ ...own, ...change }),
    setPeople: (people) => control('people', people),
    setFaults: (faults) => control('faults', faults),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit');
        child.kill('SIGTERM');
        await exited;
      }
      await rm(directory, { recursive: true, force: true });
    },
  };
}
