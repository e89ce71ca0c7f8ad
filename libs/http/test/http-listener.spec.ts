import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { createHttpListener } from '../src/index.ts';
import type { HttpListener, HttpListenerOptions } from '../src/index.ts';

let server: HttpListener | undefined;

async function start(
  options: Partial<HttpListenerOptions> & Pick<HttpListenerOptions, 'listener'>,
): Promise<HttpListener> {
  server = createHttpListener({ name: 'test', host: '127.0.0.1', port: 0, ...meters(), ...options });
  await server.start();
  return server;
}

/** What a listener counts with. */
function meters(): Pick<HttpListenerOptions, 'metrics' | 'countRefusal'> {
  return { metrics: createMetrics('test'), countRefusal: () => undefined };
}

async function raw(url: string, text: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

afterEach(() => server?.stop());

describe('createHttpListener', () => {
  it('finishes the requests under way at stop, refuses new connections, and lets kept-alive ones go', async () => {
    const arrived = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { url, stop } = await start({
      listener: (req, res) => {
        if (req.url === '/fast') return void res.end('fast');
        arrived.resolve();
        void release.promise.then(() => res.end('slow'));
      },
    });
    const agent = new Agent({ keepAlive: true });
    const fetchText = async (path: string) => {
      const [res] = (await once(get(`${url}${path}`, { agent }), 'response')) as [IncomingMessage];
      return (await res.toArray()).join('');
    };
    await fetchText('/fast');
    const slow = fetchText('/slow');
    await arrived.promise;
    const stopped = stop();
    await expect(fetch(`${url}/fast`)).rejects.toThrow();
    release.resolve();
    await expect(slow).resolves.toBe('slow');
    await stopped;
    agent.destroy();
  });

  it('asked to drain, goes on answering, and says with each answer that the connection ends', async () => {
    const arrived = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { url, drain } = await start({
      listener: (req, res) => {
        if (req.url === '/fast') return void res.end('fast');
        arrived.resolve();
        void release.promise.then(() => res.end('slow'));
      },
    });
    const agent = new Agent({ keepAlive: true });
    const connectionOf = async (path: string) => {
      const [res] = (await once(get(`${url}${path}`, { agent }), 'response')) as [IncomingMessage];
      await res.toArray();
      return res.headers.connection;
    };
    expect(await connectionOf('/fast')).toBe('keep-alive');
    const slow = connectionOf('/slow');
    await arrived.promise;
    drain?.();
    release.resolve();
    expect([await slow, await connectionOf('/fast'), await connectionOf('/fast')]).toEqual(['close', 'close', 'close']);
    agent.destroy();
  });

  it('cuts off what does not finish in time', async () => {
    const arrived = Promise.withResolvers<void>();
    const { url, stop } = await start({ stopTimeoutMs: 20, listener: () => arrived.resolve() });
    const hanging = fetch(url);
    await arrived.promise;
    await stop();
    await expect(hanging).rejects.toThrow();
  });

  it('answers headers that are too large with 431 and what is not HTTP with 400, in the common error body', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end() });
    const large = await raw(url, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    expect(large).toMatch(/^HTTP\/1.1 431 .*"code":"invalid_request","request_id":"req_/s);
    expect(await raw(url, 'HELLO\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"error":"The request is not valid HTTP\."/s);
  });

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\n', 'no Host header'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n', 'several Host headers'],
    ['a whole URL in place of its path', 'GET http://a/api HTTP/1.1\r\nHost: a\r\n', 'must be a path'],
    ['no path', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n', 'must be a path'],
  ])('answers 400 to a request with %s, in the common error body and with its id', async (_what, head, error) => {
    let handled = 0;
    const { url } = await start({ listener: (_req, res) => void (handled++, res.end()) });
    const answer = await raw(url, `${head}X-Request-Id: kept-by-us\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 400 .*content-type: application\/json; charset=utf-8\r\n/is);
    expect(answer).toMatch(/^x-request-id: kept-by-us\r$/im);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
      error: expect.stringContaining(error),
      code: 'invalid_request',
      request_id: 'kept-by-us',
    });
    expect(handled).toBe(0);
  });

  it('says nothing of what is no HTTP behind an answer that has begun: it would be read as a part of that', async () => {
    const { url } = await start({
      listener: (_req, res) => {
        res.writeHead(200, { 'content-length': 400 });
        res.write('A'.repeat(100));
      },
    });
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await eventually(() => expect(answer).toMatch(/A{100}$/));
    socket.write('no HTTP\r\n\r\n');
    await once(socket, 'close');
    expect(answer).toMatch(/A{100}$/);
  });

  it('answers an expectation that it does not know as if there were none', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end('taken') });
    expect(await raw(url, 'GET / HTTP/1.1\r\nHost: a\r\nExpect: more\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 200 .*taken$/s,
    );
  });

  it('takes a request of HTTP/1.0 without Host, which has none', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end('taken') });
    expect(await raw(url, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 .*taken$/s);
  });

  it('answers 408 to a request that does not arrive', async () => {
    const { url } = await start({ requestTimeoutMs: 100, listener: (_req, res) => void res.end() });
    expect(await raw(url, 'GET / HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1.1 408 /);
  });

  it('lets go of a request that does not arrive, even if its client keeps the connection open', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await start({ requestTimeoutMs: 100, listener: (req) => void req.on('close', closed.resolve) });
    const client = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => undefined).resume();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx');
    await closed.promise;
    client.destroy();
  });

  describe('an answer', () => {
    /** More than the buffers on the way take. */
    const large = Buffer.alloc(32 * 1024 * 1024);

    /** Sends a request and reads nothing of its answer. */
    function askOnly(url: string): Socket {
      const client = connect(Number(new URL(url).port), '127.0.0.1').pause();
      client.on('error', () => undefined);
      client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      return client;
    }

    it('is given up when its client does not read it', async () => {
      const closed = Promise.withResolvers<boolean>();
      const { url } = await start({
        unreadTimeoutMs: 100,
        listener: (_req, res) => void res.on('close', () => closed.resolve(res.writableFinished)).end(large),
      });
      const client = askOnly(url);
      expect(await closed.promise).toBe(false);
      client.destroy();
    });

    it('is given up when its client does not read it, also after a long wait for its beginning', async () => {
      const closed = Promise.withResolvers<boolean>();
      const { url } = await start({
        unreadTimeoutMs: 100,
        listener: (_req, res) => {
          res.on('close', () => closed.resolve(res.headersSent && !res.writableFinished));
          res.once('timeout', () => res.end(large));
        },
      });
      const client = askOnly(url);
      expect(await closed.promise).toBe(true);
      client.destroy();
    });

    it('is waited for, however long it takes to begin and to go on', async () => {
      const { url } = await start({
        unreadTimeoutMs: 100,
        listener: (_req, res) =>
          void res.once('timeout', () => {
            res.write('half');
            res.once('timeout', () => res.end(' and rest'));
          }),
      });
      expect(await (await fetch(url)).text()).toBe('half and rest');
    });
  });

  it('says which address it cannot listen on', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end() });
    const second = createHttpListener({
      ...meters(),
      name: 'second',
      host: '127.0.0.1',
      port: Number(new URL(url).port),
      listener: () => undefined,
    });
    await expect(second.start()).rejects.toThrow(/second cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
    await second.stop();
  });
});
