import { expect, it } from '@jest/globals';
import { Metadata, Server, status } from '@grpc/grpc-js';
import { accessLogService } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { connectTo } from '../test/raw.server.ts';
import { admitCallers } from './call.admission.ts';
import { createCallLimits } from './call.limits.ts';
import { createReportStreams } from './report-streams.ts';
import { reported, withReportBytes } from './report.kind.ts';

const { StreamAccessLogs } = accessLogService;
const LONG = { maxAgeMs: 60_000, maxSilentMs: 60_000, arrivalMs: 60_000 };

interface Served extends Partial<typeof LONG> {
  ready?: Promise<void>;
  limit?: object;
  maxStreams?: number;
}

/**
 * A server that takes messages once `ready` resolves, from callers with any name but `stranger`. `read` has the
 * messages that it looked into, and `ends` how streams ended.
 */
async function serve({ ready = Promise.resolve(), limit = {}, ...times }: Served = {}) {
  const [taken, read, ends]: [string[], string[], string[]] = [[], [], []];
  const authentication = { isDown: false, tries: 0 };
  const streams = createReportStreams({ explain: (_rpc, _id, thrown) => thrown }, { ...LONG, ...times });
  const decode = (message: Buffer) => {
    const { identifier, httpLogs } = StreamAccessLogs.requestDeserialize(message);
    const ids = httpLogs!.logEntry.map(({ request }) => request!.requestId);
    read.push(...ids);
    return { name: identifier?.logName, ids };
  };
  const kind = reported<string>({
    authorizationIn: (first) => decode(first).name || undefined,
    async take(message, admit) {
      const { caller, ended } = await admit(1);
      taken.push(...decode(message).ids.map((id) => `${caller} ${id}`));
      await ready;
      ended();
    },
  });
  const admit = admitCallers({
    async authenticate({ authorization }) {
      authentication.tries += 1;
      if (authentication.isDown) throw new AppError('service_unavailable', 'Ask again.', { retryAfterSeconds: 0.01 });
      if (authorization === undefined || authorization === 'stranger') {
        throw new AppError('unauthenticated', 'Name yourself.');
      }
      return authorization;
    },
    senderOf: String,
  });
  const onStreamEnd = (_path: string, code: status, details: string) => void ends.push(`${status[code]} ${details}`);
  const server = new Server({
    'grpc.max_receive_message_length': 10_000,
    interceptors: [createCallLimits({ streams: limit, onStreamEnd })],
  });
  const definition = withReportBytes({ StreamAccessLogs }, { StreamAccessLogs: kind });
  server.addService(definition, { StreamAccessLogs: streams.toCall(StreamAccessLogs.path, kind, admit) });
  const { client } = await connectTo(server);

  function open(name?: string) {
    const metadata = new Metadata();
    if (name !== undefined) metadata.set('authorization', name);
    const { path, requestSerialize, responseDeserialize } = StreamAccessLogs;
    let end: (code: status) => void;
    const ended = new Promise<status>((resolve) => (end = resolve));
    const stream = client.makeClientStreamRequest(path, requestSerialize, responseDeserialize, metadata, (error) =>
      end(error === null ? status.OK : error.code),
    );
    const send = (requestId: string, logName = '') =>
      stream.write({ identifier: { logName }, httpLogs: { logEntry: [{ request: { requestId } }] } });
    return { stream, ended, send };
  }
  return { open, taken, read, ends, streams, authentication };
}

it('reads the next message of a stream only when the one before is taken, and so from no other stream later', async () => {
  let answer = (): void => {};
  const ready = new Promise<void>((resolve) => (answer = resolve));
  const { open, taken } = await serve({ ready });
  const [ada, eve] = [open('ada'), open('eve')];
  for (let index = 0; index < 50; index += 1) eve.send(`e-${index}`);
  await eventually(async () => expect(taken).toEqual(['eve e-0']));
  ada.send('a-0');
  await eventually(async () => expect(taken).toEqual(['eve e-0', 'ada a-0']));
  answer();
  eve.stream.end();
  expect(await eve.ended).toBe(status.OK);
  expect(taken.filter((one) => one.startsWith('eve'))).toEqual(Array.from({ length: 50 }, (_, at) => `eve e-${at}`));
});

it('ends a stream with the first message after its age, which it takes, or without one later', async () => {
  const { open, taken } = await serve({ maxAgeMs: 300 });
  const { ended, send } = open('ada');
  send('first');
  let last = 0;
  const sender = setInterval(() => send(String((last += 1))), 20);
  expect(await ended).toBe(status.OK);
  clearInterval(sender);
  expect(taken).toEqual(['ada first', ...taken.slice(1).map((_, index) => `ada ${index + 1}`)]);
  expect(taken.length).toBeGreaterThan(1);
  const silent = await serve({ maxAgeMs: 100, maxSilentMs: 100 });
  expect(await silent.open('ada').ended).toBe(status.OK);
});

it('ends all streams when the server stops, also new ones, and waits until what was read is taken', async () => {
  let answer = (): void => {};
  const ready = new Promise<void>((resolve) => (answer = resolve));
  const { open, taken, streams } = await serve({ ready });
  const [first, idle] = [open('ada'), open('ada')];
  first.send('a-0');
  await eventually(async () => expect(taken).toEqual(['ada a-0']));
  let isEnded = false;
  const ended = streams.end().then(() => (isEnded = true));
  expect([await idle.ended, await open('ada').ended]).toEqual([status.OK, status.OK]);
  expect(isEnded).toBe(false);
  answer();
  expect([await first.ended, await ended]).toEqual([status.OK, true]);
});

it('takes the credentials of the first message, if the metadata have none, and none of a later one', async () => {
  const { open, taken } = await serve();
  const named = open();
  named.send('1', 'ada');
  named.send('2', 'eve');
  const both = open('bob');
  both.send('3', 'eve');
  for (const { stream } of [named, both]) stream.end();
  expect([await named.ended, await both.ended]).toEqual([status.OK, status.OK]);
  expect(taken.toSorted()).toEqual(['ada 1', 'ada 2', 'bob 3']);
});

it('ends the stream of a caller that is not known, and looks into no message that may follow', async () => {
  const { open, read, ends } = await serve();
  const silent = open('stranger');
  expect(await silent.ended).toBe(status.UNAUTHENTICATED);
  const { ended, send } = open('stranger');
  send('1');
  send('2');
  expect(await ended).toBe(status.UNAUTHENTICATED);
  expect(read).toEqual([]);
  expect(ends).toEqual(Array(2).fill('UNAUTHENTICATED Name yourself.'));
});

it('ends a stream that has neither credentials nor a first message in time, and only that', async () => {
  const { open, taken } = await serve({ arrivalMs: 100 });
  const ada = open('ada');
  expect(await open().ended).toBe(status.UNAUTHENTICATED);
  ada.send('1');
  await eventually(async () => expect(taken).toEqual(['ada 1']));
});

it('checks credentials again while that is not possible, and reads nothing before', async () => {
  const { open, read, taken, authentication } = await serve();
  authentication.isDown = true;
  const { send } = open('ada');
  send('1');
  await eventually(async () => expect(authentication.tries).toBeGreaterThan(2));
  expect(read).toEqual([]);
  authentication.isDown = false;
  await eventually(async () => expect(taken).toEqual(['ada 1']));
});

it('ends the oldest stream of the sender with most if too many are open', async () => {
  const { open, taken } = await serve({ maxStreams: 3 });
  const ada = open('ada');
  const eves = [];
  for (const id of ['1', '2', '3']) {
    const eve = open('eve');
    eve.send(id);
    await eventually(async () => expect(taken).toContain(`eve ${id}`));
    eves.push(eve);
  }
  expect(await eves[0]!.ended).toBe(status.OK);
  ada.send('1');
  for (const eve of eves.slice(1)) eve.send('later');
  await eventually(async () => expect(taken.slice(3).toSorted()).toEqual(['ada 1', 'eve later', 'eve later']));
});

it('says how a stream ended whose message is too large', async () => {
  const { open, ends } = await serve();
  const { ended, send } = open('ada');
  send('x'.repeat(20_000));
  expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
  await eventually(async () => expect(ends).toEqual([expect.stringMatching(/^RESOURCE_EXHAUSTED .*larger than max/)]));
});

it('cuts off a stream whose message is never taken, or of which nothing ever comes', async () => {
  const { open, ends } = await serve({ ready: new Promise(() => {}), limit: { maxAgeMs: 300 } });
  const [stuck, idle] = [open('ada'), open('ada')];
  stuck.send('1');
  expect(await stuck.ended).not.toBe(status.OK);
  expect(await idle.ended).not.toBe(status.OK);
  await eventually(async () => expect(ends).toEqual(['CANCELLED ', 'CANCELLED ']));
});
