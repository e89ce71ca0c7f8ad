import { describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useEnforcer } from './enforcer.stack.ts';
import type { AccessLogEntry } from './grpc.caller.ts';

const stack = useEnforcer(useMongo());
type Workspace = ReturnType<typeof stack.newWorkspace>;

/** Asks again while nothing can be decided, as proxies' callers do, but without the wait. */
const decided = (workspace: Workspace, rpc: 'Check' | 'ShouldRateLimit', request: object) =>
  eventually(async () => {
    const answer = await workspace.rpc(rpc, request);
    if (!('message' in answer)) return answer;
    stack.passRetryAfter();
    throw new Error(JSON.stringify(answer));
  });

/** A workspace with this daily budget, whose prices are known. */
async function pricedAndLimitedTo(micros: number): Promise<Workspace> {
  const workspace = stack.limitedTo(micros);
  const said = { tollkeeper: 'check', agent: 'planner', model: 'gpt-4o', max_tokens: '1' };
  const entries = Object.entries(said).map(([key, value]) => ({ key, value }));
  await decided(workspace, 'ShouldRateLimit', { domain: 'x', descriptors: [{ entries }] });
  return workspace;
}

/** 345 tokens of output, and 1,200 of input of which 1,024 are cached, of gpt-4o. */
const ANSWER = {
  ...{ model: 'gpt-4o', response_model: 'gpt-4o-2026-08-06', response_id: `chatcmpl-${'A'.repeat(29)}` },
  ...{ input_tokens: 1_200, output_tokens: 345, cached_tokens: 1_024 },
};
const PRICE = 5_170;
/** An answer with an id of its own. */
const newAnswer = () => ({ ...ANSWER, response_id: `chatcmpl-${newId('req')}` });

interface Logged {
  /** The metadata of tollkeeper. */
  read?: Record<string, string | number> | undefined;
  code?: number;
  headers?: Record<string, string>;
  type?: 'DownstreamEnd' | 'NotSet' | number;
}

/** The entry of the request with this id. */
function entryOf(call: string, { read, code = 200, headers, type = 'DownstreamEnd' }: Logged = {}): AccessLogEntry {
  const fields = Object.fromEntries(
    Object.entries(read ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? { stringValue: value } : { numberValue: value },
    ]),
  );
  return {
    commonProperties: {
      ...(read && { metadata: { filterMetadata: { tollkeeper: { fields } } } }),
      accessLogType: type as 'NotSet',
    },
    request: { requestId: call, requestHeaders: headers ?? { 'x-tollkeeper-agent': 'planner' } },
    ...(code > 0 && { response: { responseCode: { value: code } } }),
  };
}

/** Asks for a call by external authorization, and resolves to its id. */
async function ask(workspace: Workspace, estimate: number): Promise<string> {
  const call = newId('req');
  const who = { 'x-tollkeeper-agent': 'planner', 'x-request-id': call, 'x-tollkeeper-run': 'run-7' };
  const headers = { ...who, 'x-tollkeeper-model': 'gpt-4o', 'x-tollkeeper-estimate-micros': String(estimate) };
  const request = { attributes: { request: { http: { headers, body: '' } } } };
  expect(await decided(workspace, 'Check', request)).toMatchObject({ status: { code: 0 } });
  return call;
}

/** Reports the entries, and waits until they are taken. */
async function report(workspace: Workspace, ...entries: AccessLogEntry[]): Promise<void> {
  const { send, stream, ended } = workspace.openLog();
  send(entries);
  stream.end();
  expect(await ended).toBe('OK');
}

/** The limit of the workspace once the log is read. */
async function counted(workspace: Workspace) {
  await stack.posted();
  const { spent_micros: spent, held_micros: held } = await workspace.limit();
  return { spent, held };
}

const counts = () =>
  Promise.all(
    ['applied', 'ignored', 'set_aside'].map((outcome) => stack.counted('enforcer_access_log_entries_total', outcome)),
  );

describe('a call that external authorization reserved', () => {
  it('is settled at the price of its tokens, once, however often it is reported', async () => {
    const workspace = await pricedAndLimitedTo(100_000);
    const call = await ask(workspace, 50_000);
    const entry = entryOf(call, { read: ANSWER });
    await report(workspace, entry, entry);
    await report(workspace, entry);
    expect(await counted(workspace)).toEqual({ spent: PRICE, held: 0 });
    expect(workspace.events('spend.settled').map(({ data }) => data)).toMatchObject([
      {
        ...{ reservation_id: expect.any(String), amount_micros: PRICE, model: 'gpt-4o-2026-08-06', run_id: 'run-7' },
        ...{ settlement_id: expect.stringMatching(/^rsp:/), tokens: { input: 176, cache_read: 1_024, output: 345 } },
        priced_by: 'table',
      },
    ]);
  });

  it('is settled at what it held, if it was answered and its usage is not known, and released otherwise', async () => {
    const workspace = await pricedAndLimitedTo(100_000);
    const answered: Logged[] = [
      { read: { model: 'gpt-4o' } },
      { read: { model: 'gpt-4o', response_model: 'gpt-4o' }, code: 0 },
      { read: { ...newAnswer(), input_tokens: -1, output_tokens: 1e300, cached_tokens: 'many' } },
    ];
    const failed: Logged[] = [{ code: 500 }, { code: 429 }, { code: 0 }];
    for (const logged of [...answered, ...failed]) {
      await report(workspace, entryOf(await ask(workspace, 700), logged));
    }
    expect(await counted(workspace)).toEqual({ spent: 2_100, held: 0 });
    expect(workspace.events('spend.settled').map(({ data }) => data)).toMatchObject(
      answered.map(() => ({ amount_micros: 700, priced_by: 'reservation' })),
    );
  });

  it('stays held while its request goes on: only the entry of its end counts', async () => {
    const workspace = await pricedAndLimitedTo(100_000);
    const call = await ask(workspace, 700);
    const types = { start: 4, periodic: 5, attempt: 9 };
    await report(workspace, ...Object.values(types).map((type) => entryOf(call, { code: 0, type })));
    expect(await counted(workspace)).toEqual({ spent: 0, held: 700 });
    await report(workspace, entryOf(call, { code: 0, type: 'NotSet' }));
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
  });
});

describe('a call of the rate limit service', () => {
  const descriptorsOf = (call: string, response: string) =>
    ['input_tokens', 'output_tokens', 'cached_tokens'].map((unit) => {
      const said = { tollkeeper: 'settle', agent: 'planner', call, unit, response, model: ANSWER.response_model };
      const entries = Object.entries(said).map(([key, value]) => ({ key, value }));
      return { entries, hitsAddend: { value: ANSWER[unit as 'input_tokens'] } };
    });

  it('that reports it too counts once, whoever reports first, also without a reservation', async () => {
    const workspace = await pricedAndLimitedTo(100_000);
    for (const isReserved of [true, false]) {
      for (const isLogFirst of [true, false]) {
        const call = isReserved ? await ask(workspace, 50_000) : newId('req');
        const read = newAnswer();
        const request = { domain: 'x', descriptors: descriptorsOf(call, read.response_id) };
        const settle = async () =>
          expect(await workspace.rpc('ShouldRateLimit', request)).toMatchObject({ overallCode: 'OK' });
        const log = () => report(workspace, entryOf(call, { read }));
        for (const one of isLogFirst ? [log, settle] : [settle, log]) await one();
      }
    }
    expect(await counted(workspace)).toEqual({ spent: 4 * PRICE, held: 0 });
    const [limit] = (await workspace.limits()).items as { overspend_micros: object }[];
    expect(limit!.overspend_micros).toMatchObject({ unreserved: 2 * PRICE });
  });
});

describe('an entry that cannot be applied', () => {
  it.each([
    ['without an agent', { headers: { 'x-tollkeeper-run': 'r' }, read: ANSWER }, 'x-tollkeeper-agent is missing'],
    ['with a plan that is none', { headers: { 'x-tollkeeper-agent': 'a', 'x-tollkeeper-plan': 'No' } }, '-plan '],
    ['without the id of its request', { call: '' }, 'request_id is missing: set generate_request_id'],
  ])('%s is set aside with its reason, and all others go on, on the same stream', async (_what, wrong, reason) => {
    const workspace = await pricedAndLimitedTo(100_000);
    const [first, second] = [await ask(workspace, 700), await ask(workspace, 700)];
    const before = await counts();
    const { call = newId('req'), ...logged } = wrong as Logged & { call?: string };
    const entries = [entryOf(call, logged), entryOf(first, { read: newAnswer() }), entryOf('health', { headers: {} })];
    const { send, stream, ended } = workspace.openLog();
    send(entries);
    send([entryOf(second, { read: newAnswer() })]);
    stream.end();
    expect(await ended).toBe('OK');
    expect(await counted(workspace)).toEqual({ spent: 2 * PRICE, held: 0 });
    const after = await counts();
    expect(after.map((count, index) => count - before[index]!)).toEqual([2, 1, 1]);
    // Somebody looks, which is known when the key is checked again.
    stack.keys.watch(workspace.tenantId);
    stack.passRetryAfter(6);
    await eventually(async () => {
      await report(workspace, ...entries);
      const shown = stack.keys.reports.findLast(({ tenantId }) => tenantId === workspace.tenantId);
      expect(shown).toMatchObject({
        ...{ records: 3, calls: 1, firstCalls: [{ agentId: 'planner', outcome: 'settled' }] },
        notCalls: [
          { reason: expect.stringContaining(reason), records: 1 },
          { reason: expect.stringContaining('is no call'), records: 1 },
        ],
      });
    });
  });

  it('is in the log of the service, at least once a minute', async () => {
    stack.passRetryAfter(61);
    const workspace = await pricedAndLimitedTo(100);
    await report(workspace, entryOf('', { read: ANSWER }));
    const line = stack.logs.lines().findLast(({ tenant_id: tenantId }) => tenantId === workspace.tenantId);
    expect(JSON.stringify(line)).toContain('request_id is missing: set generate_request_id');
    expect(line).toMatchObject({ msg: 'entries of an access log were set aside', records: 1 });
  });

  it('now is tried again while its sender waits', async () => {
    const workspace = await pricedAndLimitedTo(100_000);
    const call = await ask(workspace, 700);
    stack.log.down = true;
    const [before, refused] = [await counts(), stack.log.refused];
    const { send, stream, ended } = workspace.openLog();
    send([entryOf(call, { read: newAnswer() })]);
    await eventually(async () => expect(stack.log.refused).toBeGreaterThan(refused));
    stack.log.down = false;
    stream.end();
    expect(await ended).toBe('OK');
    expect((await counts()).map((count, index) => count - before[index]!)).toEqual([1, 0, 0]);
    expect(await counted(workspace)).toEqual({ spent: PRICE, held: 0 });
  });
});

describe('the key of a stream', () => {
  it('may be the log_name of its first message, where the metadata have none', async () => {
    const [workspace, other] = [await pricedAndLimitedTo(100_000), await pricedAndLimitedTo(100_000)];
    const [first, second] = [await ask(workspace, 700), await ask(workspace, 700)];
    const { send, stream, ended } = stack.grpc.openLog();
    send([entryOf(first, { read: newAnswer() })], workspace.apiKey);
    send([entryOf(second, { read: newAnswer() })], other.apiKey);
    stream.end();
    expect(await ended).toBe('OK');
    expect(await counted(workspace)).toEqual({ spent: 2 * PRICE, held: 0 });
  });

  it('ends only calls of its own workspace', async () => {
    const [victim, other] = [await pricedAndLimitedTo(100_000), await pricedAndLimitedTo(100_000)];
    const [first, second] = [await ask(victim, 700), await ask(victim, 700)];
    await report(other, entryOf(first, { code: 500 }), entryOf(second, { read: newAnswer() }));
    expect([await counted(victim), await counted(other)]).toEqual([
      { spent: 0, held: 1_400 },
      { spent: PRICE, held: 0 },
    ]);
  });

  it.each(['tollkeeper', '', `ws_live_${'a'.repeat(60)}`])('is required: the log_name %j is none', async (logName) => {
    const { send, ended } = stack.grpc.openLog();
    send([entryOf(newId('req'), { read: ANSWER })], logName);
    expect(await ended).toBe('UNAUTHENTICATED');
  });

  it('that is revoked ends the stream with its next message', async () => {
    const workspace = await pricedAndLimitedTo(100_000);
    const { send, ended } = workspace.openLog();
    const call = await ask(workspace, 700);
    send([entryOf(call, { read: newAnswer() })]);
    await eventually(async () => expect(await counted(workspace)).toEqual({ spent: PRICE, held: 0 }));
    stack.keys.revoke(workspace.sha256);
    stack.passRetryAfter(6);
    send([entryOf(newId('req'), { read: newAnswer() })]);
    expect(await ended).toBe('UNAUTHENTICATED');
  });
});
