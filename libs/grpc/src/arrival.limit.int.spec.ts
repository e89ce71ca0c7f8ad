import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { afterEach, expect, it } from '@jest/globals';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import { keysService } from '@tollkeeper/contracts';
import { createArrivalLimit } from './arrival.limit.ts';

const { path } = keysService.VerifyKey;
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A server that answers every request, with a message or UNIMPLEMENTED, and a connection to it. */
async function serve(
  limits: { arrivalMs: number; maxArriving: number; maxUnread?: number },
  { settings = {}, answers = false } = {},
): Promise<ClientHttp2Session> {
  const server = new Server({ interceptors: [createArrivalLimit(limits)] });
  server.addService(keysService, {
    verifyKey: (_call: unknown, callback: (failure: { code: status } | null, answer?: object) => void) =>
      answers ? callback(null, { tenantId: 'ws_1', role: 1 }) : callback({ code: status.UNIMPLEMENTED }),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  cleanUps.push(() => server.forceShutdown());
  const session = connect(`http://127.0.0.1:${port}`, { settings });
  cleanUps.push(() => session.destroy());
  await once(session, 'connect');
  return session;
}

function request(session: ClientHttp2Session): ClientHttp2Stream {
  const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' };
  return session.request(headers, { endStream: false }).on('error', () => {});
}

/** Sends the bytes, and ends the request if it is whole. Resolves to the status of the answer. */
async function send(session: ClientHttp2Session, bytes: number[], isWhole: boolean): Promise<number> {
  const stream = request(session);
  stream.write(Buffer.from(bytes));
  if (isWhole) stream.end();
  const code = await new Promise<number>((resolve) => {
    const read = (headers: Record<string, unknown>) => {
      if (headers['grpc-status'] !== undefined) resolve(Number(headers['grpc-status']));
    };
    stream.on('response', read).on('trailers', read);
  });
  stream.close(constants.NGHTTP2_NO_ERROR);
  return code;
}

const WHOLE = [0, 0, 0, 0, 0];
/** Announces a message of a thousand bytes, and sends none of it. */
const BEGUN = [0, 0, 0, 3, 232];

it('ends a request that does not arrive in time, and takes others', async () => {
  const session = await serve({ arrivalMs: 100, maxArriving: 10 });
  expect(await send(session, BEGUN, false)).toBe(status.DEADLINE_EXCEEDED);
  expect(await send(session, WHOLE, true)).toBe(status.UNIMPLEMENTED);
});

it('ends a request whose message has come and whose end has not, and keeps nothing of its stream', async () => {
  const session = await serve({ arrivalMs: 100, maxArriving: 10 });
  const stream = request(session);
  const closed = once(stream, 'close');
  stream.write(Buffer.from(WHOLE));
  stream.resume();
  await closed;
  expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
});

it('refuses the oldest of the requests that are arriving for more, and takes what comes', async () => {
  const session = await serve({ arrivalMs: 1_000, maxArriving: 2 });
  const slow = [send(session, BEGUN, false), send(session, BEGUN, false)];
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await send(session, WHOLE, true)).toBe(status.UNIMPLEMENTED);
  expect(await Promise.all(slow)).toEqual([status.RESOURCE_EXHAUSTED, status.DEADLINE_EXCEEDED]);
  for (let i = 0; i < 5; i += 1) expect(await send(session, WHOLE, true)).toBe(status.UNIMPLEMENTED);
});

it('drops the oldest of the answers that a client does not read, beyond their number', async () => {
  const limits = { arrivalMs: 5_000, maxArriving: 10, maxUnread: 2 };
  const session = await serve(limits, { settings: { initialWindowSize: 0 }, answers: true });
  const streams = [1, 2, 3].map(() => request(session));
  const codes: number[] = [];
  for (const [index, stream] of streams.entries()) {
    stream.once('close', () => codes.push(index));
    stream.end(Buffer.from(WHOLE));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(codes).toEqual([0]);
});
