import { expect, it } from '@jest/globals';
import { Metadata, Server, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { enforcerService } from '@tollkeeper/contracts';
import { cleanUps, connectTo } from '../test/raw.server.ts';
import { createStreamCaller } from './stream.caller.ts';

type Call = ServerDuplexStream<{ requests: { tag: number }[] }, { answers: object[] }>;

/** A server that handles the streams with `handlers` in turn, the last one repeatedly; none: it has no streams. */
async function connect(handlers: ((call: Call) => void)[], deadlineMs = 60_000) {
  const { ReserveStream, ...others } = enforcerService;
  const server = new Server();
  let streams = 0;
  const reserveStream = (call: Call) => handlers[Math.min(streams++, handlers.length - 1)]!(call);
  server.addService(handlers.length === 0 ? others : { ReserveStream }, {
    reserveStream,
    ReserveStream: reserveStream,
  });
  const { client } = await connectTo(server);
  const alone: object[] = [];
  const caller = createStreamCaller({
    client,
    method: ReserveStream,
    metadata: () => new Metadata(),
    alone: async (request: { release: { reservationId: string } }) => {
      alone.push(request);
      return { tag: 0 };
    },
    peer: 'enforcer',
    deadlineMs,
  });
  cleanUps.push(caller.close);
  return { ...caller, client, alone, streams: () => streams };
}

const RELEASE = { release: { reservationId: 'rsv_1' } };
const answerAll = (call: Call) =>
  void call.on('data', ({ requests }: { requests: { tag: number }[] }) =>
    call.write({ answers: requests.map(({ tag }) => ({ tag, reservation: { id: 'rsv_1' } })) }),
  );
const failWith = (code: status) => (call: Call) => void call.emit('error', { code, details: 'A sentence.' });

it('makes single calls at a server of a release without streams', async () => {
  const { ask, alone, streams } = await connect([]);
  await Promise.all([ask(RELEASE), ask(RELEASE)]);
  await ask(RELEASE);
  expect([alone, streams()]).toEqual([[RELEASE, RELEASE, RELEASE], 0]);
});

it('sends the requests of a turn together, and repeats them on the next stream if the first one ends', async () => {
  const seen: number[] = [];
  const endAfterOne = (call: Call) =>
    void call.once('data', ({ requests }: { requests: { tag: number }[] }) => {
      seen.push(requests.length);
      call.write({ answers: [{ tag: requests[0]!.tag, reservation: { id: 'rsv_first' } }] });
      call.end();
    });
  const dropAll = (call: Call) => void call.once('data', () => call.emit('error', { code: status.UNAVAILABLE }));
  const { ask, streams } = await connect([endAfterOne, dropAll, answerAll]);
  const answers = await Promise.all([ask(RELEASE), ask(RELEASE), ask(RELEASE)]);
  expect(answers.map(({ reservation }) => reservation?.id)).toEqual(['rsv_first', 'rsv_1', 'rsv_1']);
  expect([seen, streams()]).toEqual([[3], 3]);
});

it('rejects the requests of a stream that is refused, and opens another one for the next', async () => {
  const { ask } = await connect([failWith(status.UNAUTHENTICATED), answerAll]);
  await expect(Promise.all([ask(RELEASE), ask(RELEASE)])).rejects.toMatchObject({ code: 'internal' });
  await expect(ask(RELEASE)).resolves.toMatchObject({ answer: 'reservation' });
});

it('gives up a stream that answers nothing any more', async () => {
  const { ask, streams } = await connect([(call) => void call.resume(), answerAll], 500);
  await expect(ask(RELEASE)).rejects.toMatchObject({ code: 'upstream_timeout' });
  await expect(ask(RELEASE)).resolves.toMatchObject({ answer: 'reservation' });
  expect(streams()).toBe(2);
});

it('pauses before it opens another stream, if one ended without any answer', async () => {
  const { ask, streams } = await connect([(call) => call.end()], 1_000);
  await expect(ask(RELEASE)).rejects.toMatchObject({ code: 'upstream_timeout' });
  expect(streams()).toBeLessThan(10);
});

it('rejects what is in progress when it is closed, and everything after', async () => {
  const { ask, close } = await connect([(call) => void call.resume()]);
  const asked = ask(RELEASE);
  close();
  await expect(asked).rejects.toMatchObject({ code: 'service_unavailable' });
  await expect(ask(RELEASE)).rejects.toMatchObject({ code: 'service_unavailable' });
});

/** The first request is refused once. */
const refuseFirst = (retryAfterSeconds: number) => (call: Call) => {
  let isFirst = true;
  const answer = ({ tag }: { tag: number }) => {
    const error = { code: 'rate_limited', message: 'Too many.', details: [], retryAfterSeconds };
    const answered = isFirst ? { tag, error } : { tag, reservation: { id: 'rsv_1' } };
    isFirst = false;
    return answered;
  };
  call.on('data', ({ requests }: { requests: { tag: number }[] }) => call.write({ answers: requests.map(answer) }));
};

it('sends a request that a quota refused again, on the same stream', async () => {
  const { ask, streams } = await connect([refuseFirst(1)]);
  const answers = await Promise.all([ask(RELEASE), ask(RELEASE)]);
  expect(answers.map(({ reservation }) => reservation?.id)).toEqual(['rsv_1', 'rsv_1']);
  expect(streams()).toBe(1);
});

it('rejects a request whose quota has room only after its deadline, with the delay', async () => {
  const { ask } = await connect([refuseFirst(61)]);
  await expect(ask(RELEASE)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 61 });
});

it('waits for the delay of a quota, while others go on, and rejects what waits when it is closed', async () => {
  const { ask, close } = await connect([refuseFirst(30)]);
  const [refused, other] = [ask(RELEASE), ask(RELEASE)];
  await expect(other).resolves.toMatchObject({ answer: 'reservation' });
  close();
  await expect(refused).rejects.toMatchObject({ code: 'service_unavailable' });
});

it('rejects all requests once the gRPC client was closed first, as after its own end', async () => {
  const endAfterAnswer = (call: Call) => {
    answerAll(call);
    call.once('data', () => call.end());
  };
  const used = await connect([endAfterAnswer]);
  await used.ask(RELEASE);
  const unused = await connect([answerAll]);
  const asked = [used, unused].flatMap(({ ask, client }) => {
    client.close();
    return [ask(RELEASE), ask(RELEASE)];
  });
  for (const { reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[]) {
    expect(reason).toMatchObject({ code: 'service_unavailable' });
  }
  await expect(unused.ask(RELEASE)).rejects.toMatchObject({ code: 'service_unavailable' });
});
