import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { begin, exportBytes, headOf, openSession, statusOf, TRACE_EXPORT } from './reporter.client.ts';
import { BUDGET_BYTES, half, key, KIB, MIB, rpcsOf, serve } from './reporter.stack.ts';

/** Statuses of gRPC. */
const INVALID_ARGUMENT = '3';
const RESOURCE_EXHAUSTED = '8';
const UNIMPLEMENTED = '12';
const UNAVAILABLE = '14';

describe('messages that are arriving', () => {
  it('of a thousand streams take no more than the memory for bodies, and no place of others', async () => {
    const { address, bodies, refusals } = await serve();
    const sessions = await Promise.all(Array.from({ length: 10 }, () => openSession(address)));
    const codes = new Set<unknown>();
    let most = 0;
    for (const session of sessions) {
      for (let i = 0; i < 100; i += 1) {
        const stream = half(begin(session, key('flood')), 3 * MIB, 60 * KIB);
        stream.on('response', (headers) => codes.add(headers['grpc-status']));
      }
      // Another sender, while they fill the memory.
      expect(await exportBytes(address, Buffer.alloc(100 * KIB), { metadata: key('other') })).toMatchObject({
        code: 'OK',
        bytes: Buffer.from(String(100 * KIB)),
      });
      most = Math.max(most, bodies.takenBytes);
    }
    await eventually(() => expect(codes).toContain(UNAVAILABLE));
    expect([...codes].filter((code) => code !== UNAVAILABLE && code !== RESOURCE_EXHAUSTED)).toEqual([]);
    expect(most).toBeGreaterThan(BUDGET_BYTES / 4);
    expect(most).toBeLessThanOrEqual(BUDGET_BYTES);
    expect(refusals).toContain('body_budget');
    for (const session of sessions) session.destroy();
    await eventually(() => expect(bodies.takenBytes).toBe(0));
  });

  it('are not read before the key is checked', async () => {
    const { promise: checked, resolve: check } = Promise.withResolvers<string>();
    const { address, bodies } = await serve({ authenticate: () => checked });
    const session = await openSession(address);
    const stream = half(begin(session), 2 * MIB, 2 * MIB);
    stream.end();
    const status = statusOf(stream);
    // What the window of a stream lets through waits in its buffer.
    await eventually(() => expect(session.state.remoteWindowSize).toBeGreaterThan(0));
    expect(stream.writableLength).toBeGreaterThan(MIB);
    expect(bodies.takenBytes).toBe(0);
    check('sender');
    expect((await status)['grpc-status']).toBe('0');
    expect(bodies.takenBytes).toBe(0);
  });

  it('are not read at all without a key, and the stream ends', async () => {
    const { address, bodies, calls } = await serve();
    const stream = half(begin(await openSession(address)), 2 * MIB, 2 * MIB);
    const closed = once(stream, 'close');
    expect(await statusOf(stream)).toMatchObject({ 'grpc-status': '16', 'grpc-message': 'Send%20a%20key.' });
    await closed;
    expect([bodies.takenBytes, calls.length]).toEqual([0, 0]);
  });

  it('must arrive in time', async () => {
    const { address, bodies, refusals } = await serve({ limits: { arrivalMs: 100 } });
    const stream = half(begin(await openSession(address), key('slow')), 1_000, 10);
    expect(await statusOf(stream)).toMatchObject({
      'grpc-status': UNAVAILABLE,
      'grpc-message': expect.stringContaining('0.1'),
    });
    expect([bodies.takenBytes, refusals]).toEqual([0, ['request_timeout']]);
  });

  it('must arrive in time though the check of the key hangs', async () => {
    const { address } = await serve({ limits: { arrivalMs: 100 }, authenticate: () => new Promise(() => undefined) });
    const stream = begin(await openSession(address));
    expect((await statusOf(stream))['grpc-status']).toBe(UNAVAILABLE);
  });

  it('of the address with most lose the oldest, beyond their number', async () => {
    const { address, refusals } = await serve({ limits: { maxArriving: 2 } });
    const session = await openSession(address);
    const first = half(begin(session, key('a')), 1_000, 10);
    const lost = statusOf(first);
    half(begin(session, key('b')), 1_000, 10);
    expect((await exportBytes(address, Buffer.alloc(10), { metadata: key('c') })).code).toBe('OK');
    expect((await lost)['grpc-status']).toBe(UNAVAILABLE);
    expect(refusals).toEqual(['arrival_limit']);
  });

  it('of one sender are bounded, until their streams end', async () => {
    const { address } = await serve({ limits: { maxOfSender: 2 } });
    const session = await openSession(address);
    const streams = [1, 2].map(() => half(begin(session, key('a')), 1_000, 10));
    const send = (sender: string) => exportBytes(address, Buffer.alloc(10), { metadata: key(sender) });
    await eventually(async () =>
      expect(await send('a')).toMatchObject({ code: 'RESOURCE_EXHAUSTED', retryAfterSeconds: 1 }),
    );
    expect((await send('b')).code).toBe('OK');
    for (const stream of streams) stream.close();
    await eventually(async () => expect((await send('a')).code).toBe('OK'));
  });

  it('that are refused give back their place, though their clients never end them', async () => {
    const { address } = await serve({ limits: { maxOfSender: 1 } });
    const session = await openSession(address);
    for (let i = 0; i < 3; i += 1) {
      await eventually(async () => {
        const stream = begin(session, key('a'));
        stream.write(Buffer.concat([headOf(4 * MIB), Buffer.alloc(60 * KIB)]));
        expect((await statusOf(stream))['grpc-status']).toBe(INVALID_ARGUMENT);
      });
    }
  });

  it('give their room back when the client leaves', async () => {
    const { address, bodies, calls } = await serve();
    const session = await openSession(address);
    const stream = half(begin(session, key('a')), 100 * KIB, 50 * KIB);
    await eventually(() => expect(bodies.takenBytes).toBeGreaterThan(50 * KIB));
    stream.close();
    await eventually(() => expect(bodies.takenBytes).toBe(0));
    expect(calls).toEqual([]);
  });

  it('count no less than they keep in memory', async () => {
    const { address, bodies } = await serve();
    const stream = begin(await openSession(address), key('a'));
    stream.write(headOf(1_000));
    for (let i = 0; i < 100; i += 1) {
      await new Promise((resolve) => stream.write(Buffer.alloc(1), resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => expect(bodies.takenBytes).toBeGreaterThan(20 * 512));
  });
});

describe('the message of a request', () => {
  it.each([
    ['is announced as too large', headOf(3 * MIB + 1), {}],
    ['is missing', Buffer.alloc(0), {}],
    ['has half a head', Buffer.alloc(3), {}],
    ['is shorter than it says', Buffer.concat([headOf(10), Buffer.alloc(9)]), {}],
    ['is followed by another one', Buffer.concat([headOf(1), Buffer.alloc(1), headOf(0)]), {}],
    ['is compressed without a name', Buffer.concat([headOf(1, true), Buffer.alloc(1)]), {}],
    ['is not gzip', Buffer.concat([headOf(4, true), Buffer.from('text')]), { 'grpc-encoding': 'gzip' }],
    [
      'is half of a gzip',
      Buffer.concat([headOf(12, true), gzipSync('text').subarray(0, 12)]),
      { 'grpc-encoding': 'gzip' },
    ],
  ])('is refused with INVALID_ARGUMENT if it %s', async (_case, bytes, headers) => {
    const { address, bodies, calls } = await serve();
    const stream = begin(await openSession(address), { ...key('a'), ...headers });
    const status = statusOf(stream);
    stream.end(bytes);
    expect((await status)['grpc-status']).toBe(INVALID_ARGUMENT);
    expect([bodies.takenBytes, calls.length]).toEqual([0, 0]);
  });

  it('is refused with UNIMPLEMENTED and a list of the known compressions if its own is unknown', async () => {
    const { address } = await serve();
    const stream = begin(await openSession(address), { ...key('a'), 'grpc-encoding': 'snappy' });
    const status = statusOf(stream);
    stream.end(Buffer.concat([headOf(1, true), Buffer.alloc(1)]));
    expect(await status).toMatchObject({
      'grpc-status': UNIMPLEMENTED,
      'grpc-accept-encoding': 'identity,gzip,deflate,br,zstd',
    });
  });

  it('may come in any pieces', async () => {
    const { address } = await serve();
    const stream = begin(await openSession(address), { ...key('a'), 'grpc-encoding': 'gzip' });
    const status = statusOf(stream);
    const zipped = gzipSync(Buffer.alloc(10 * KIB, 'abc'));
    for (const byte of Buffer.concat([headOf(zipped.length, true), zipped])) stream.write(Buffer.from([byte]));
    const answer = once(stream, 'data') as Promise<[Buffer]>;
    stream.end();
    expect((await status)['grpc-status']).toBe('0');
    expect((await answer)[0].subarray(5).toString()).toBe(String(10 * KIB));
  });

  it('takes what it has after decompression of the memory for bodies, and no more while it is a bomb', async () => {
    const { address, bodies, refusals } = await serve({ rpcs: rpcsOf(async () => Buffer.alloc(0), 64 * MIB) });
    const bomb = gzipSync(Buffer.alloc(60 * MIB));
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, bodies.takenBytes)), 0);
    const session = await openSession(address);
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const stream = begin(session, { ...key('a'), 'grpc-encoding': 'gzip' });
        const status = statusOf(stream);
        stream.end(Buffer.concat([headOf(bomb.length, true), bomb]));
        return (await status)['grpc-status'];
      }),
    );
    clearInterval(watch);
    expect(statuses).toContain(INVALID_ARGUMENT);
    expect(statuses.filter((code) => code !== INVALID_ARGUMENT && code !== UNAVAILABLE)).toEqual([]);
    expect(most).toBeLessThanOrEqual(BUDGET_BYTES);
    expect(refusals.filter((reason) => reason !== 'body_budget')).toEqual([]);
    await eventually(() => expect(bodies.takenBytes).toBe(0));
  });
});

it('an answer has the id of its request, and a failure names it', async () => {
  const { address, calls } = await serve();
  const session = await openSession(address);
  const refused = begin(session, { 'x-request-id': 'req_of-a-client' });
  expect((await statusOf(refused))['x-request-id']).toBe('req_of-a-client');
  await exportBytes(address, Buffer.alloc(1), { metadata: { ...key('a'), 'x-request-id': 'req_of-another' } });
  expect(calls.map(({ requestId }) => requestId)).toEqual(['req_of-another']);
});

it('an unexpected error is UNAVAILABLE, and logged without being shown', async () => {
  const failing = rpcsOf(() => Promise.reject(new Error('a secret')));
  const { address, logs } = await serve({ rpcs: failing });
  const answer = await exportBytes(address, Buffer.alloc(1), { metadata: key('a') });
  expect(answer).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 5 });
  expect(answer.details).not.toContain('secret');
  expect(logs.text()).toContain('a secret');
});

it('requests are measured by their method and status, and unknown methods as one', async () => {
  const { address, metrics } = await serve();
  await exportBytes(address, Buffer.alloc(1), { metadata: key('a') });
  await exportBytes(address, Buffer.alloc(1));
  await exportBytes(address, Buffer.alloc(1), { path: '/a.strange/Path', metadata: key('a') });
  const text = await metrics.registry.metrics();
  const counts = [...text.matchAll(/grpc_server_request_duration_seconds_count\{.*?method="([^"]+)".*?code="(\w+)"/g)];
  expect(counts.map(([, method, code]) => `${method} ${code}`).sort()).toEqual([
    `${TRACE_EXPORT} OK`,
    `${TRACE_EXPORT} UNAUTHENTICATED`,
    '/unknown UNIMPLEMENTED',
  ]);
});
