import { expect, it } from '@jest/globals';
import { Metadata, Server, status } from '@grpc/grpc-js';
import { accessLogService, type AccessLogMessage } from '@tollkeeper/contracts';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { connectTo } from '../test/raw.server.ts';
import { admitCallers } from './call.admission.ts';
import { createCallLimits } from './call.limits.ts';
import { createReportStreams } from './report-streams.ts';
import { reported } from './report.kind.ts';

const { StreamAccessLogs } = accessLogService;

/** A server that takes messages once `ready` resolves, from callers with any name. */
async function serve({ ready = Promise.resolve(), maxAgeMs = 60_000, maxSilentMs = 60_000, limit = {} } = {}) {
  const taken: string[] = [];
  const streams = createReportStreams({ explain: (_rpc, _id, thrown) => thrown }, { maxAgeMs, maxSilentMs });
  const kind = reported<AccessLogMessage, string>({
    authorizationIn: ({ identifier }) => identifier?.logName || undefined,
    async take({ httpLogs }, admit) {
      const { caller, ended } = await admit(1);
      for (const { request } of httpLogs!.logEntry) taken.push(`${caller} ${request!.requestId}`);
      await ready;
      ended();
    },
  });
  const admit = admitCallers({
    async authenticate({ authorization }) {
      if (authorization === undefined) throw new AppError('unauthenticated', 'Name yourself.');
      return authorization;
    },
    senderOf: String,
  });
  const server = new Server({ interceptors: [createCallLimits({ streams: limit })] });
  server.addService({ StreamAccessLogs }, { StreamAccessLogs: streams.toCall(StreamAccessLogs.path, kind, admit) });
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
  return { open, taken, streams };
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

it('ends the stream of a caller that is not known, and takes nothing of it', async () => {
  const { open, taken } = await serve();
  const { ended, send } = open();
  send('1');
  expect(await ended).toBe(status.UNAUTHENTICATED);
  expect(taken).toEqual([]);
});

it('cuts off a stream whose message is never taken, or of which nothing ever comes', async () => {
  const { open } = await serve({ ready: new Promise(() => {}), limit: { maxAgeMs: 300 } });
  const [stuck, idle] = [open('ada'), open('ada')];
  stuck.send('1');
  expect(await stuck.ended).not.toBe(status.OK);
  expect(await idle.ended).not.toBe(status.OK);
});
