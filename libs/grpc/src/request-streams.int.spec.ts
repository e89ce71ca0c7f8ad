import { once } from 'node:events';
import { afterEach, expect, it } from '@jest/globals';
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { enforcerService } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { z } from 'zod';
import { admitCallers } from './call.admission.ts';
import { createRequestStreams } from './request-streams.ts';
import { streamed } from './streamed.kind.ts';
import { createStreamLimit } from './stream.limit.ts';

const { ReserveStream, Release } = enforcerService;
type Stream = ClientDuplexStream<object, { answers: { tag: number }[] }>;
const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A server whose requests are answered once `ready` resolves, for callers with any name. */
async function serve({ ready = Promise.resolve(), maxAgeMs = 60_000, limit = {} } = {}) {
  const taken: string[] = [];
  const streams = createRequestStreams({ explain: (_rpc, _id, thrown) => thrown, onAnswer: () => {} }, { maxAgeMs });
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
  const server = new Server({ interceptors: [createStreamLimit(limit)] });
  server.addService({ ReserveStream }, { ReserveStream: streams.toCall(ReserveStream.path, { release }, admit) });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  cleanUps.push(() => server.forceShutdown());
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  cleanUps.push(() => client.close());

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
  return { open, taken, streams };
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
