import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { logIn } from '../src/api.client.ts';
import { spendSettled } from '../src/events.ts';
import {
  OWNER,
  type StandaloneOptions,
  type StandaloneProcess,
  isRunning,
  launchStandalone,
  newDataDirectory,
  removeDataDirectory,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';
import { postEvents } from '../src/workspace.ts';

interface Spend {
  metrics: { total_micros: number; unique_settlements: number };
}

interface SampleAlert {
  rule_name: string;
  deliveries: { status: string }[];
}

interface AuditRecord {
  actor: { name: string };
}

describe('the standalone as a process', () => {
  let dataDirectory: string;
  let running: StandaloneProcess[];

  async function start(env: StandaloneOptions['env'] = {}): Promise<StandaloneProcess> {
    const standalone = await startStandalone({ dataDirectory, env });
    running.push(standalone);
    return standalone;
  }

  /** A start that fails: its exit code, and the output at the terminal. */
  async function failToStart(env: StandaloneOptions['env'] = {}): Promise<{ code: number; terminal: string }> {
    const child = launchStandalone({ dataDirectory, env });
    let terminal = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (terminal += chunk));
    const [code] = (await once(child, 'close')) as [number];
    return { code, terminal };
  }

  /** Sends the signal during a first start, while it writes the sample traffic. */
  async function interruptFirstStart(signal: NodeJS.Signals, env: StandaloneOptions['env']) {
    const child = launchStandalone({ dataDirectory, env });
    let terminal = '';
    child.stdout.on('data', (chunk: Buffer) => (terminal += chunk));
    await eventually(() => expect(terminal).toContain('Processed 20%'));
    child.kill(signal);
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, terminal };
  }

  const spendOf = async (standalone: StandaloneProcess, password = OWNER.password) => {
    const owner = await logIn(standalone, { email: OWNER.email, password });
    return eventually(() => owner.expect<Spend>({ path: '/w/demo/api/v1/dashboard/spend?range=3m' }));
  };

  beforeEach(async () => {
    running = [];
    dataDirectory = await newDataDirectory();
  });
  afterEach(async () => {
    for (const standalone of running) await standalone.end('SIGKILL');
    for (const { mongodPid } of running) await eventually(async () => expect(await isRunning(mongodPid)).toBe(false));
    await removeDataDirectory(dataDirectory);
  });

  it('shows a password and a key at the first start and never again, and keeps its data', async () => {
    const first = await start({ TOLLKEEPER_OWNER_PASSWORD: '' });
    const password = /password +(\S+)/.exec(first.terminal())?.[1] ?? '';
    expect(first.terminal()).toContain(first.apiKey);
    expect((await stat(join(dataDirectory, 'key'))).mode & 0o777).toBe(0o600);
    expect((await postEvents(first, first.apiKey, spendSettled({ amountMicros: 7 }))).status).toBe(202);
    await eventually(async () => expect((await spendOf(first, password)).metrics.total_micros).toBe(7));
    expect(await first.end('SIGINT')).toBe(0);

    const second = await start({ TOLLKEEPER_OWNER_PASSWORD: '' });
    expect(second.terminal()).not.toContain('password');
    expect(second.terminal()).not.toContain('ws_live_');
    expect(second.terminal()).toContain(OWNER.email);
    expect((await spendOf(second, password)).metrics).toMatchObject({ total_micros: 7, unique_settlements: 1 });
    expect((await postEvents(second, first.apiKey, spendSettled({ amountMicros: 1 }))).status).toBe(202);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends cleanly with %s and leaves no mongod behind', async (signal) => {
    const standalone = await start();
    expect(await isRunning(standalone.mongodPid)).toBe(true);
    expect(await standalone.end(signal)).toBe(0);
    expect(await isRunning(standalone.mongodPid)).toBe(false);
    expect(standalone.logs()).toBe('');
  });

  it('ends cleanly while it writes the sample traffic, and shows no credentials', async () => {
    const { code, terminal } = await interruptFirstStart('SIGINT', { TOLLKEEPER_DEMO: 'true' });
    expect({ code, terminal }).toEqual({ code: 0, terminal: expect.not.stringContaining('ws_live_') });
    expect(terminal).not.toContain('Counted 80%');
  });

  it('leaves no mongod behind when it is killed either', async () => {
    const standalone = await start();
    await standalone.end('SIGKILL');
    await eventually(async () => expect(await isRunning(standalone.mongodPid)).toBe(false));
  });

  it('says that it has stopped, and why, when its mongod dies', async () => {
    const standalone = await start();
    process.kill(standalone.mongodPid, 'SIGKILL');
    await eventually(async () => expect(await isRunning(standalone.pid)).toBe(false));
    expect(await standalone.end('SIGKILL')).toBe(1);
    const reason = 'The managed mongod is gone: it ended with SIGKILL';
    expect(standalone.logs()).toContain(`\nTollkeeper has stopped. ${reason}. Accepted data is kept.`);
    expect(standalone.logs()).not.toContain('cannot start');
  });

  it('refuses a second start on its data directory, and continues undisturbed', async () => {
    const standalone = await start();
    const { code, terminal } = await failToStart();
    expect(code).toBe(1);
    expect(terminal).toContain(`in use by the process ${standalone.pid}`);
    expect(terminal).toContain('TOLLKEEPER_DATA_DIR');
    expect((await spendOf(standalone)).metrics.total_micros).toBe(0);
  });

  it.each(['PORT', 'OPS_PORT'])('says what to do when another program has its %s', async (variable) => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const { code, terminal } = await failToStart({ [variable]: String(port) });
    server.close();
    expect(code).toBe(1);
    expect(terminal).toContain(`Port ${port} of 127.0.0.1 is in use`);
    expect(terminal).toContain(`${variable}=`);
    expect(terminal).not.toMatch(/^ +at /m);
  });

  it('takes OTLP over gRPC on another port, and says on which, when another program has its own', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const standalone = await start({ OTLP_PORT: String(port) });
    server.close();
    const said = new RegExp(`Port ${port} is in use, so OTLP over gRPC is at (127\\.0\\.0\\.1:\\d+)`);
    const [, address] = said.exec(standalone.terminal()) ?? [];
    const session = connect(`http://${address}`);
    const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    // `close` would wait for the rest of the answer, which is not read, and fail when the standalone stops.
    session.destroy();
    // UNAUTHENTICATED, without a key.
    expect(headers['grpc-status']).toBe('16');
  });

  it('distinguishes who logs in through a proxy that it knows', async () => {
    const standalone = await start({ TRUSTED_PROXIES: '127.0.0.0/8' });
    const login = async (address: string): Promise<number> => {
      const { status } = await fetch(`${standalone.baseUrl}/api/v1/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ email: `${address}@example.com`, password: 'not the password' }),
      });
      return status;
    };
    for (let failed = 0; failed < 10; failed += 1) expect(await login('198.51.100.7')).toBe(401);
    expect(await login('198.51.100.7')).toBe(429);
    expect(await login('198.51.100.8')).toBe(401);
  });

  it('names every setting that is wrong, and none of their values', async () => {
    const wrong = { PORT: 'eighty-eighty', TOLLKEEPER_OWNER_PASSWORD: 'too-short', TOLLKEEPER_DEMO: 'perhaps' };
    const { code, terminal } = await failToStart(wrong);
    expect(code).toBe(1);
    for (const [variable, value] of Object.entries(wrong)) {
      expect(terminal).toContain(variable);
      expect(terminal).not.toContain(value);
    }
  });

  it('finishes a first start that was killed while it wrote the sample history, and makes nothing twice', async () => {
    const env = { TOLLKEEPER_DEMO: 'true' };
    const { code, terminal } = await interruptFirstStart('SIGKILL', env);
    expect(code).toBeNull();
    expect(terminal).not.toContain('ws_live_');

    const standalone = await start(env);
    expect(standalone.terminal()).toContain(standalone.apiKey);
    const { metrics } = await spendOf(standalone);
    expect(metrics.unique_settlements).toBeGreaterThan(5_000);
    expect(metrics.unique_settlements).toBeLessThan(12_000);
    const owner = await logIn(standalone, OWNER);
    const rules = await owner.expect<{ items: { name: string }[] }>({ path: '/w/demo/api/v1/alerts/rules' });
    expect(rules.items.map(({ name }) => name)).toEqual([
      ...['80% of a daily budget', 'Daily budget used up', 'Runaway agent', 'First guard block'],
    ]);
    expect((await postEvents(standalone, standalone.apiKey, spendSettled({ amountMicros: 1 }))).status).toBe(202);
    // The live traffic starts with a runaway agent, and the sample's inbox is part of the process.
    await eventually(async () => {
      const { items } = await owner.expect<{ items: SampleAlert[] }>({ path: '/w/demo/api/v1/alerts' });
      const seen = items.map(({ rule_name, deliveries }) => [rule_name, ...deliveries.map(({ status }) => status)]);
      expect(seen).toContainEqual(['Runaway agent', 'delivered']);
      const audit = await owner.expect<{ items: AuditRecord[] }>({ path: '/w/demo/api/v1/audit?action=rule.create' });
      expect(audit.items.map(({ actor }) => actor.name)).toEqual(['Owner', 'Owner', 'Owner', 'Owner']);
    });
  });
});
