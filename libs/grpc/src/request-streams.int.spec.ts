import { once } from 'node:events';
import { connect } from 'node:http2';
import { expect, it } from '@jest/globals';
import { type ClientDuplexStream, Metadata, Server, type ServiceError, status } from '@grpc/grpc-js';
import { enforcerService } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { z } from 'zod';
import { makeServer } from '../test/identity.server.ts';
import { cleanUps, connectTo } from '../test/raw.server.ts';
import { admitCallers } from './call.admission.ts';
import { createCallLimits } from './call.limits.ts';
import { createRequestStreams } from './request-streams.ts';
import { streamed } from './streamed.kind.ts';

const { ReserveStream, Release } = enforcerService;
const HEADERS = { ':method': 'POST', ':path': ReserveStream.path, 'content-type': 'application/grpc', te: 'trailers' };
type Stream = ClientDuplexStream<object, { answers: { tag: number }[] }>;

/** A server whose requests are answered once `ready` resolves, for callers with any name. */
async function serve({ ready = Promise.resolve(), maxAgeMs = 60_000, limit = {} } = {}) {
  const taken: string[] = [];
  const codes: status[] = [];
  const onAnswer = (_rpc: string, code: status) => void codes.push(code);
  const streams = createRequestStreams({ explain: (_rpc, _id, thrown) => thrown, onAnswer }, { maxAgeMs });
  const release = streamed(Release, z.object({ reservationId: z.string() }), async ({ reservationId: id }, by) => {
    taken.push(`${String(by)} ${id}`);
    await ready;
    return { reservation: { id } };
  });
  const admit = admitCallers({
    async authenticate({ authorization }) {
      if (authorization === undefined) throw new AppError('unauthenticated', 'Name yourself.');
      return authorization;
    },
    senderOf: (name) => String(name),
  });
  const server = new Server({ interceptors: [createCallLimits({ streams: limit })] });
  server.addService({ ReserveStream }, { ReserveStream: streams.toCall(ReserveStream.path, { release }, admit) });
  const { client, port } = await connectTo(server);

  function open(name?: string) {
    const metadata = new Metadata();
    if (name !== undefined) metadata.set('authorization', name);
    const { path, requestSerialize, responseDeserialize } = ReserveStream;
    const stream: Stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
    const tags: number[] = [];
    stream.on('data', ({ answers }: { answers: { tag: number }[] }) => tags.push(...answers.map(({ tag }) => tag)));
    const ended = new Promise<status>((resolve) => {
      stream.on('error', ({ code }: ServiceError) => resolve(code));
      stream.on('end', () => resolve(status.OK));
    });
    const ask = (tag: number) => stream.write({ requests: [{ tag, release: { reservationId: `rsv_${tag}` } }] });
    return { stream, tags, ended, ask };
  }
  return { open, taken, codes, port, streams };
}

it('ends a stream at its age, after it has answered all that it read', async () => {
  let answer = (): void => {};
  const ready = new Promise<void>((resolve) => (answer = resolve));
  const { open, taken } = await serve({ ready, maxAgeMs: 500 });
  const { ask, tags, ended, stream } = open('ada');
  ask(1);
  await eventually(async () => expect(taken).toEqual(['ada rsv_1']));
  const idle = open('ada');
  expect(await idle.ended).toBe(status.OK);
  ask(2);
  answer();
  expect(await ended).toBe(status.OK);
  expect(tags).toContain(1);
  expect(taken).toEqual(tags.map((tag) => `ada rsv_${tag}`));
  stream.end();
});

it('ends all streams when the server stops, and new ones as well', async () => {
  const { open, taken, streams } = await serve();
  const first = open('ada');
  first.ask(1);
  await eventually(async () => expect(first.tags).toEqual([1]));
  streams.end();
  expect([await first.ended, await open('ada').ended]).toEqual([status.OK, status.OK]);
  expect(taken).toHaveLength(1);
});

it('ends the oldest stream of the sender with most when too many are open', async () => {
  const { open } = await serve();
  const oldest = open('eve');
  const ada = open('ada');
  ada.ask(1);
  await eventually(async () => expect(ada.tags).toEqual([1]));
  const others = Array.from({ length: 511 }, () => open('eve'));
  expect(await oldest.ended).toBe(status.OK);
  ada.ask(2);
  await eventually(async () => expect(ada.tags).toEqual([1, 2]));
  for (const { stream } of [ada, ...others]) stream.cancel();
});

it('takes nothing from a caller that is not known', async () => {
  const { open, taken } = await serve();
  const { ask, ended } = open();
  ask(1);
  expect(await ended).toBe(status.UNAUTHENTICATED);
  expect(taken).toEqual([]);
});

it('cuts off a stream whose peer does nothing more, and the oldest of an address with too many', async () => {
  const halfOpen = await serve({ ready: new Promise(() => {}), limit: { maxAgeMs: 300 } });
  const { ask, ended } = halfOpen.open('ada');
  ask(1);
  expect(await ended).not.toBe(status.OK);
  const crowded = await serve({ limit: { maxOpen: 2 } });
  const [oldest, ...others] = [crowded.open('a'), crowded.open('b'), crowded.open('c')];
  expect(await oldest!.ended).not.toBe(status.OK);
  for (const [tag, other] of others.entries()) {
    other.ask(tag);
    await once(other.stream, 'data');
  }
});

it('cuts off the oldest stream of an address that opens too many, before any key is checked', async () => {
  const authenticator = { authenticate: () => new Promise(() => undefined), senderOf: String };
  const definition = { ReserveStream };
  const service = { definition, requests: {}, handlers: {}, streams: { ReserveStream: {} }, authenticator };
  const server = makeServer({}, { services: [service] });
  await server.start();
  const session = connect(`http://${server.address}`);
  cleanUps.push(() => session.destroy());
  const [oldest] = Array.from({ length: 1_001 }, () => session.request(HEADERS).on('error', () => undefined));
  await once(oldest!, 'close');
});

it('refuses nothing of a stream whose messages come in one frame: those beyond the most in progress wait', async () => {
  const { codes, port, taken } = await serve({ ready: new Promise((resolve) => setImmediate(resolve)) });
  openRaw(port, Array(20).fill(50)).resume();
  await eventually(async () => expect(codes).toHaveLength(1_000));
  expect([new Set(codes), taken.length]).toEqual([new Set([status.OK]), 1_000]);
});

it('takes no more requests of a caller that does not read its answers', async () => {
  const requests = 400;
  const { open, port, taken } = await serve();
  const { ask, tags } = open('ada');
  openRaw(port, Array(requests).fill(1), 'x'.repeat(20_000));
  let tag = 0;
  await eventually(async () => {
    const before = taken.length;
    ask((tag += 1));
    await eventually(async () => expect(tags).toContain(tag));
    expect([before > tag, taken.length]).toEqual([true, before + 1]);
  });
  expect(taken.length - tag).toBeLessThan(requests);
});

/** A stream of messages of so many requests each. Unlike one of grpc-js, it sends them at once and reads no answer. */
function openRaw(port: number, counts: number[], reservationId = 'rsv_1') {
  const session = connect(`http://127.0.0.1:${port}`);
  cleanUps.push(() => session.destroy());
  const messages = counts.map((count) => {
    const requests = Array.from({ length: count }, (_, tag) => ({ tag, release: { reservationId } }));
    const message = ReserveStream.requestSerialize({ requests });
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    return Buffer.concat([head, message]);
  });
  const stream = session.request({ ...HEADERS, authorization: 'eve' });
  stream.write(Buffer.concat(messages));
  return stream;
}
