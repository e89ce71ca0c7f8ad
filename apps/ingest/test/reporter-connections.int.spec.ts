import { once } from 'node:events';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { createConnection } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { createHttp2Listener } from '../src/grpc/http2.listener.ts';
import { answerFailure } from '../src/grpc/unary.answer.ts';
import { begin, exportBytes, headOf, openSession, statusOf } from './reporter.client.ts';
import { cleanUps, half, key, KIB, MIB, rpcsOf, serve } from './reporter.stack.ts';

it('a stream that is answered before its end leaves nothing at the server', async () => {
  const streams: ServerHttp2Stream[] = [];
  const listener = createHttp2Listener({
    ...{ name: 'test', host: '127.0.0.1', port: 0, countRefusal: () => undefined },
    limits: { maxConnections: 10, idleMs: 60_000, maxAgeMs: 60_000, graceMs: 1_000 },
    onRequest(stream) {
      streams.push(stream);
      answerFailure(stream, { code: 14, message: 'Not now.', retryAfterSeconds: 1 }, 'req_1');
    },
  });
  await listener.start();
  cleanUps.push(() => listener.stop());
  const stream = half(begin(await openSession(listener.address)), 3 * MIB, 60 * KIB);
  expect((await statusOf(stream))['grpc-status']).toBe('14');
  await eventually(() => expect(streams.map(({ destroyed }) => destroyed)).toEqual([true]));
});

describe('a connection', () => {
  it('that is not HTTP/2, or breaks off, leaves the server as it was', async () => {
    const { address, server } = await serve();
    const [host, port] = server.address.split(':');
    const socket = createConnection({ host: host!, port: Number(port) }).on('error', () => undefined);
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.resume();
    await once(socket, 'close');
    const session = await openSession(address);
    half(begin(session, key('a')), 1_000, 10);
    session.socket.destroy();
    expect((await exportBytes(address, Buffer.alloc(10), { metadata: key('a') })).code).toBe('OK');
  });

  it('with a request that is not gRPC gets 415', async () => {
    const { address } = await serve();
    const session = await openSession(address);
    const requests: Record<string, string>[] = [{ 'content-type': 'application/json' }, { ':method': 'PUT' }];
    for (const headers of requests) {
      expect(await statusOf(begin(session, headers))).toMatchObject({ ':status': 415 });
    }
  });

  it('is the oldest of its address when there are too many, and is closed', async () => {
    const { address, refusals } = await serve({ limits: { maxConnections: 1 } });
    const first = await openSession(address);
    // It is closed by a reset if the server had not read all of it.
    first.on('error', () => undefined);
    const closed = new Promise((resolve) => first.once('close', resolve));
    expect((await exportBytes(address, Buffer.alloc(10), { metadata: key('a') })).code).toBe('OK');
    await closed;
    expect(refusals).toEqual(['connection_limit']);
  });

  it('that cancels thousands of requests is closed', async () => {
    const { address } = await serve();
    const session = await openSession(address);
    const closed = new Promise((resolve) => session.once('close', resolve));
    const flood = setInterval(() => {
      for (let i = 0; i < 100 && !session.destroyed && !session.closed; i += 1) {
        begin(session, key('a')).close(constants.NGHTTP2_CANCEL);
      }
    }, 1);
    await closed;
    clearInterval(flood);
    expect((await exportBytes(address, Buffer.alloc(10), { metadata: key('a') })).code).toBe('OK');
  });

  it('that is idle, or old, takes no more requests, and clients open another one', async () => {
    for (const ends of [{ idleMs: 50 }, { maxAgeMs: 50 }]) {
      const { address } = await serve({ limits: ends });
      const session = await openSession(address);
      await Promise.all([once(session, 'goaway'), once(session, 'close')]);
      expect((await exportBytes(address, Buffer.alloc(10), { metadata: key('a') })).code).toBe('OK');
    }
  });

  it('whose client has vanished ends at its greatest age', async () => {
    const { address } = await serve({ limits: { maxAgeMs: 50, graceMs: 50 } });
    const [host, port] = address.split(':');
    const socket = createConnection({ host: host!, port: Number(port), allowHalfOpen: true }).on(
      'error',
      () => undefined,
    );
    // The beginning of HTTP/2 and empty settings, and then nothing, not even an end.
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    socket.resume();
    await once(socket, 'end');
    // A write reaches nothing any more, and is answered by a reset.
    await eventually(() => {
      if (!socket.destroyed) socket.write('x');
      expect(socket.destroyed).toBe(true);
    });
  });

  it('takes no more requests once the server drains, and finishes what it has', async () => {
    const { promise: release, resolve } = Promise.withResolvers<Buffer>();
    const { server, address } = await serve({ rpcs: rpcsOf(() => release) });
    const session = await openSession(address);
    const stream = begin(session, key('a'));
    const status = statusOf(stream);
    stream.end(headOf(0));
    const away = once(session, 'goaway');
    await eventually(() => expect(session.state.outboundQueueSize).toBe(0));
    server.drain?.();
    await away;
    const stopped = server.stop();
    resolve(Buffer.from('done'));
    expect((await status)['grpc-status']).toBe('0');
    await stopped;
  });
});
