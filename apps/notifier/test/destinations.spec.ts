import { spawn } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { ClientRequest, createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createAddressGuard, parseCidr } from '@tollkeeper/net';
import { eventually } from '@tollkeeper/testing';
import type { Authority } from '@tollkeeper/testing/authority';
import { useSender } from './sender.stack.ts';

describe('the guard against forged destinations', () => {
  const { receiver, send } = useSender();
  const blocked = { kind: 'blocked', reason: expect.stringContaining('private or otherwise special') };

  it.each(['http://hooks.test/', 'ftp://hooks.test/', 'file:///etc/passwd'])('refuses %s', async (url) => {
    expect(await send({ url })).toMatchObject({ kind: 'blocked', reason: expect.stringContaining('https') });
  });

  it.each([
    'https://10.0.0.1/',
    'https://2130706434/',
    'https://0x7f.2/',
    'https://[::1]/',
    'https://[::ffff:7f00:2]/',
  ])('refuses %s without connecting', async (url) => {
    expect(await send({ url })).toEqual(blocked);
  });

  it.each([[['10.1.2.3']], [['127.0.0.1', '169.254.169.254']], [['::ffff:10.0.0.1']], [['not an address']], [['']]])(
    'refuses a name that resolves to %j',
    async (addresses) => {
      expect(await send({ resolve: async () => addresses })).toEqual(blocked);
      expect(receiver().received).toEqual([]);
    },
  );

  it('connects to the address that was checked, though a second look-up says another one', async () => {
    const private_ = createTcpServer().listen(receiver().port, '127.0.0.9');
    await once(private_, 'listening');
    const answers = [['127.0.0.1'], ['127.0.0.9']];
    let asked = 0;
    const resolve = async () => answers[asked++]!;

    expect(await send({ resolve })).toMatchObject({ kind: 'answered', status: 200 });
    expect([asked, receiver().received.length]).toEqual([1, 1]);
    expect(await send({ resolve })).toEqual(blocked);
    private_.close();
  });

  it('checks the address again that it is connected to, before anything is sent', async () => {
    let checks = 0;
    const guard = { allows: () => ++checks === 1 };
    expect(await send({ guard })).toEqual(blocked);
    expect([checks, receiver().received]).toEqual([2, []]);
  });

  it('does not take a connection that is over as soon as it is open for one to a forbidden address', async () => {
    const requests = channel('http.client.request.created');
    const loseAddress = (message: unknown): void => {
      if (typeof message !== 'object' || message === null || !('request' in message)) return;
      if (!(message.request instanceof ClientRequest)) return;
      message.request.once('socket', (socket) => Object.defineProperty(socket, 'remoteAddress', { value: undefined }));
    };
    requests.subscribe(loseAddress);
    const outcome = await send();
    requests.unsubscribe(loseAddress);
    expect(outcome).toEqual({
      kind: 'unreachable',
      reason: 'The destination closed the connection without an answer.',
    });
  });
});

describe('a destination with several addresses', () => {
  const { authority, send } = useSender();
  const clean: (() => unknown)[] = [];
  afterEach(async () => {
    for (const each of clean.splice(0)) await each();
  });

  /** A server on 127.0.0.9 that accepts no connections beyond its queue until released. */
  async function startBusyServer({ key, cert }: Authority) {
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const code = `
      const { createServer } = require('node:https');
      const { parentPort, workerData: { key, cert, gate } } = require('node:worker_threads');
      const server = createServer({ key, cert }, (request, response) => response.end('late'));
      server.listen({ port: 0, host: '127.0.0.9', backlog: 1 }, () => {
        parentPort.postMessage(server.address().port);
        Atomics.wait(gate, 0, 0);
      });`;
    const worker = new Worker(code, { eval: true, workerData: { key, cert, gate } });
    clean.push(() => worker.terminate());
    const [port] = (await once(worker, 'message')) as [number];
    // Linux queues one connection more than the backlog and drops further attempts, which are repeated after a second.
    const fillers = [connect(port, '127.0.0.9'), connect(port, '127.0.0.9')];
    clean.push(...fillers.map((filler) => () => filler.destroy()));
    await Promise.all(fillers.map((filler) => once(filler, 'connect')));
    return {
      port,
      /** Resolves once a connection attempt was dropped. */
      refused: () =>
        eventually(async () => {
          const asking = new RegExp(` 0900007F:${port.toString(16).toUpperCase().padStart(4, '0')} 02 `);
          expect(await readFile('/proc/net/tcp', 'latin1')).toMatch(asking);
        }),
      goOn() {
        Atomics.store(gate, 0, 1);
        Atomics.notify(gate, 0);
      },
    };
  }

  it('is reached by the one that works, though that takes its time', async () => {
    const busy = await startBusyServer(authority());
    const sending = send({
      url: `https://hooks.test:${busy.port}/`,
      guard: createAddressGuard([parseCidr('127.0.0.0/8')!]),
      resolve: async () => ['127.0.0.9', '127.0.0.10'],
      timeoutMs: 15_000,
    });
    await busy.refused();
    busy.goOn();
    expect(await sending).toMatchObject({ kind: 'answered', status: 200, snippet: 'late' });
  });
});

describe('a proxy of the environment', () => {
  const { authority, receiver } = useSender();
  const SENDER = join(import.meta.dirname, '../src/delivery/https.sender.ts');

  /** The sender's answer in a separate process, because Node reads these variables at its start. */
  async function sendFromProcess(environment: NodeJS.ProcessEnv): Promise<unknown> {
    const code = `
      import { createHttpsSender } from ${JSON.stringify(SENDER)};
      const send = createHttpsSender({ guard: { allows: () => true }, resolve: async () => ['127.0.0.1'] });
      const outcome = await send({ url: '${receiver().url}', headers: {}, body: '{}', credentials: [] }, new AbortController().signal);
      console.log(JSON.stringify(outcome));`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: environment,
    });
    return JSON.parse(await text(child.stdout));
  }

  it('is not used', async () => {
    let proxied = 0;
    const proxy = createServer(() => (proxied += 1))
      .on('connect', (_request, socket) => {
        proxied += 1;
        socket.destroy();
      })
      .listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const directory = await mkdtemp(join(tmpdir(), 'tollkeeper-notifier-'));
    const ca = join(directory, 'ca.pem');
    await writeFile(ca, authority().ca);

    const proxies = { HTTPS_PROXY: address, https_proxy: address, ALL_PROXY: address, NODE_USE_ENV_PROXY: '1' };
    const outcome = await sendFromProcess({ ...proxies, NODE_EXTRA_CA_CERTS: ca });
    expect(outcome).toMatchObject({ kind: 'answered', status: 200 });
    expect(proxied).toBe(0);
    proxy.close();
    await rm(directory, { recursive: true });
  });
});
