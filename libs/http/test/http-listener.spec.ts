import { once } from 'node:events';
import { Agent, get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually } from '@tollkeeper/testing';
import { createHttpListener } from '../src/index.ts';
import type { HttpListener, HttpListenerOptions, RefusalReason } from '../src/index.ts';

let server: HttpListener | undefined;

async function start(
  options: Partial<HttpListenerOptions> & Pick<HttpListenerOptions, 'listener'>,
): Promise<HttpListener> {
  server = createHttpListener({ name: 'test', host: '127.0.0.1', port: 0, ...meters(), ...options });
  await server.start();
  return server;
}

/** The meters of a listener. */
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
  it('finishes the requests in flight at stop, refuses new connections, and lets kept-alive ones go', async () => {
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
    let over = 0;
    const stopped = [stop(), stop()].map((each) => each.then(() => (over += 1)));
    await expect(fetch(`${url}/fast`)).rejects.toThrow();
    expect(over).toBe(0);
    release.resolve();
    await expect(slow).resolves.toBe('slow');
    await Promise.all(stopped);
    agent.destroy();
  });

  it('keeps a connection for 75 s after an answer, so longer than the proxies in front of it do', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end() });
    const agent = new Agent({ keepAlive: true });
    const [res] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
    expect(res.resume().headers['keep-alive']).toBe('timeout=75');
    agent.destroy();
  });

  it('at stop, closes a connection that its last answer leaves idle, and does not wait for the others', async () => {
    const ends: (() => void)[] = [];
    const { url, stop } = await start({
      listener: (_req, res) => {
        // The answer has started, so it cannot announce any more that the connection closes.
        res.write('be');
        ends.push(() => res.end('gun'));
      },
    });
    const agent = new Agent({ keepAlive: true });
    const ask = async () => {
      const [res] = (await once(get(url, { agent }), 'response')) as [IncomingMessage];
      return { socket: res.socket, text: res.toArray().then((chunks) => chunks.join('')) };
    };
    const [first, second] = [await ask(), await ask()];
    const stopped = stop();
    const closed = once(first.socket, 'close');
    ends[0]?.();
    expect(await first.text).toBe('begun');
    await closed;
    ends[1]?.();
    expect(await second.text).toBe('begun');
    await stopped;
    agent.destroy();
  });

  it('asked to drain, keeps answering, and says with each answer that the connection ends', async () => {
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

  it('asked to drain, leaves the answers whole that have begun', async () => {
    const release = Promise.withResolvers<void>();
    const { url, drain } = await start({
      listener: (_req, res) => {
        res.write('be');
        void release.promise.then(() => res.end('gun'));
      },
    });
    const begun = await fetch(url);
    drain?.();
    release.resolve();
    expect(await begun.text()).toBe('begun');
  });

  it('cuts off what does not finish in time', async () => {
    const arrived = Promise.withResolvers<void>();
    const { url, stop } = await start({ stopTimeoutMs: 20, listener: () => arrived.resolve() });
    const hanging = fetch(url);
    await arrived.promise;
    await stop();
    await expect(hanging).rejects.toThrow();
  });

  it.each<[string, { sent: string; status: string; error: string; counted: RefusalReason[] }]>([
    [
      'headers that are too large',
      {
        sent: `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
        status: '431 Request Header Fields Too Large',
        error: 'The request headers are larger than 16384 bytes. Send smaller headers.',
        counted: [],
      },
    ],
    [
      'what is not HTTP',
      { sent: 'HELLO\r\n\r\n', status: '400 Bad Request', error: 'The request is not valid HTTP.', counted: [] },
    ],
    [
      'a request that does not arrive',
      {
        sent: 'GET / HTTP/1.1\r\nHost: a\r\n',
        status: '408 Request Timeout',
        error: 'The request took too long to arrive. Send it again.',
        counted: ['request_timeout'],
      },
    ],
  ])('answers %s in the common error body', async (_what, { sent, status, error, counted }) => {
    const refused: RefusalReason[] = [];
    const { url } = await start({
      requestTimeoutMs: 100,
      countRefusal: (reason) => refused.push(reason),
      listener: (_req, res) => void res.end(),
    });
    const [head = '', body = ''] = (await raw(url, sent)).split('\r\n\r\n');
    const [statusLine, ...headers] = head.split('\r\n');
    expect(statusLine).toBe(`HTTP/1.1 ${status}`);
    const { request_id, ...rest } = JSON.parse(body) as { request_id: string };
    expect(rest).toEqual({ error, code: 'invalid_request' });
    expect(request_id).toMatch(/^req_/);
    expect(headers).toEqual([
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${body.length}`,
      `X-Request-Id: ${request_id}`,
      'Connection: close',
    ]);
    expect(refused).toEqual(counted);
  });

  describe('a body that is cut off', () => {
    const head = (path: string, type: string) =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\nx`;
    const late = 'The request body did not arrive in time. Send it again.';

    /** Sends a part of a request, and ends it if `ends`. Resolves to the answer. */
    async function cutOff(text: string, ends: boolean): Promise<string> {
      const { url } = await start({
        requestTimeoutMs: ends ? 60_000 : 100,
        resendsAfter503: (path) => path === '/v1/traces',
        listener: (req) => void req.on('error', () => undefined).resume(),
      });
      const client = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
      let answer = '';
      client.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
      client.write(text);
      if (ends) client.end();
      await once(client, 'end');
      client.destroy();
      await server?.stop();
      return answer;
    }

    it.each([
      ['slowly', false],
      ['by its sender', true],
    ])('%s, is answered 503 with Retry-After where senders lose it after 408 and 400', async (_how, ends) => {
      const answer = await cutOff(head('/v1/traces?a', 'application/json'), ends);
      expect(answer).toMatch(/^HTTP\/1.1 503 .*\r\nRetry-After: 1\r\n.*\r\nConnection: close\r\n/s);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
        ...{ error: late, code: 'service_unavailable' },
      });
      const protobuf = await cutOff(head('/v1/traces', 'application/x-protobuf'), ends);
      expect(protobuf).toMatch(/^HTTP\/1.1 503 .*\r\nContent-Type: application\/x-protobuf\r\n/s);
      expect(protobuf.slice(protobuf.indexOf('\r\n\r\n') + 4)).toBe(`\x12${String.fromCharCode(late.length)}${late}`);
    });

    it('is answered 408 or 400 elsewhere', async () => {
      const others = head('/api/v1/agents', 'application/json');
      expect([await cutOff(others, false), await cutOff(others, true)]).toEqual([
        expect.stringMatching(/^HTTP\/1.1 408 /),
        expect.stringMatching(/^HTTP\/1.1 400 /),
      ]);
    });
  });

  it.each([
    ['no Host', 'GET / HTTP/1.1\r\nFrom: a\r\n', 'no Host header'],
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

  it('takes a request with one Host, whatever else it has', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end('taken') });
    const head = 'GET / HTTP/1.1\r\nHOST: a\r\nFrom: a\r\nhosts: b\r\nX-Host: b\r\nConnection: close\r\n\r\n';
    expect(await raw(url, head)).toMatch(/^HTTP\/1.1 200 .*taken$/s);
  });

  it('takes a request of HTTP/1.0 without Host, which has none', async () => {
    const { url } = await start({ listener: (_req, res) => void res.end('taken') });
    expect(await raw(url, 'GET / HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 .*taken$/s);
  });

  it('releases a request that does not arrive, even if its client keeps the connection open', async () => {
    const closed = Promise.withResolvers<void>();
    const { url } = await start({ requestTimeoutMs: 100, listener: (req) => void req.on('close', closed.resolve) });
    const client = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true });
    client.on('error', () => undefined).resume();
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx');
    await closed.promise;
    client.destroy();
  });

  describe('an answer', () => {
    /** More than all buffers on the way hold. */
    const large = Buffer.alloc(32 * 1024 * 1024);

    /** Sends a request without reading its answer. */
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

    it('is waited for, however long it takes to begin and to continue', async () => {
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

  it.each([
    ['127.0.0.1', 'http://127.0.0.1:8080'],
    ['0.0.0.0', 'http://127.0.0.1:8080'],
    ['::', 'http://127.0.0.1:8080'],
    ['::1', 'http://[::1]:8080'],
  ])('on %s is reached on this machine at %s', (host, url) => {
    const listener = createHttpListener({ ...meters(), name: 'test', host, port: 8080, listener: () => undefined });
    expect(listener.url).toBe(url);
  });

  it('shows how many connections are open', async () => {
    const { metrics } = meters();
    const { url } = await start({ metrics, listener: (_req, res) => void res.end() });
    const shown = async () => (await metrics.registry.getSingleMetricAsString('http_server_connections')).trim();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await eventually(async () => expect(await shown()).toMatch(/ 1$/));
    socket.destroy();
    await eventually(async () => expect(await shown()).toMatch(/ 0$/));
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
