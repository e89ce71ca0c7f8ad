import { describe, expect, it } from '@jest/globals';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent, type EventData } from './event.ts';
import { createReads } from './reads.ts';
import { createTwiceReports } from './reported-twice.ts';
import type { SettlementReader } from './settlement.list.ts';

const TENANT = provenTenantId('ws_twice');
const MINUTE_MS = 60_000;
let made = 0;

function settled(agent_id: string, time: number, data: EventData): DashboardEvent {
  made += 1;
  const id = String(made).padStart(6, '0');
  const settlement_id = agent_id === 'gateway' ? `rsp:${id}` : `cc:${id}`;
  return {
    tenantId: TENANT,
    source: '',
    eventId: settlement_id,
    type: SPEND_SETTLED,
    time,
    data: { settlement_id, agent_id, ...data },
  };
}

const NOW = 3_600_000;

/** What a comparison of these settlements, which are in the order of their times, finds. */
async function compared(all: DashboardEvent[], maxCompared?: number) {
  const reader: SettlementReader = {
    settlementsFrom: async (_tenantId, from, until, _meter, atMost = 400) => {
      const after = all.filter(
        ({ time, data }) => time > from.time || (time === from.time && data.settlement_id! > from.after),
      );
      const found = after.filter(({ time }) => time < until);
      const settlements = found.slice(0, atMost);
      const last = settlements.at(-1);
      const next = settlements.length < found.length ? { time: last!.time, after: last!.data.settlement_id! } : null;
      return { settlements, next };
    },
  };
  const deps = { reads: createReads(), reader, clock: () => NOW };
  const reports = createTwiceReports(maxCompared === undefined ? deps : { ...deps, maxCompared });
  return reports.find(TENANT, new AbortController().signal);
}

const reportedTwice = async (all: DashboardEvent[]) => (await compared(all)).found;

const claude = (time: number, data: EventData = {}) => settled('claude', time, data);
const litellm = (time: number, data: EventData = {}) => settled('gateway', time, data);
const found = (alike: number, calls = alike) => ({
  ...{ program: 'claude_code', agentId: 'claude', otherAgentId: 'gateway' },
  ...{ calls, alike },
});

describe('calls that an agent program and a gateway seem to report', () => {
  const tokens = { input_tokens: 1500, output_tokens: 345 };

  it.each([
    ['numbers of tokens', tokens, { ...tokens, output_tokens: 346 }],
    ['run, and no tokens', { run_id: 'run-1' }, { run_id: 'run-2' }],
    ['user, and no tokens', { labels: { user: 'ada' } }, { labels: { user: 'bob' } }],
  ])('have the same %s within a minute, whichever report is first', async (_what, same, another) => {
    expect(await reportedTwice([claude(0, same), litellm(MINUTE_MS, same)])).toEqual([found(1)]);
    expect(await reportedTwice([litellm(0, same), claude(MINUTE_MS, same)])).toEqual([found(1)]);
    expect(await reportedTwice([claude(0, same), litellm(MINUTE_MS + 1, same)])).toEqual([]);
    expect(await reportedTwice([litellm(0, same), claude(MINUTE_MS + 1, same)])).toEqual([]);
    expect(await reportedTwice([claude(0, same), litellm(1, another)])).toEqual([]);
  });

  it('may have tokens in one report alone, but not other ones of the same run and user', async () => {
    const context = { run_id: 'run', labels: { user: 'ada' } };
    const [without, its, others] = [context, { ...context, ...tokens }, { ...context, ...tokens, input_tokens: 7 }];
    expect(await reportedTwice([claude(0, its), litellm(1, without)])).toEqual([found(1)]);
    expect(await reportedTwice([claude(0, without), litellm(1, its)])).toEqual([found(1)]);
    expect(await reportedTwice([claude(0, its), litellm(1, others)])).toEqual([]);
  });

  it('are counted once each, however many reports are alike', async () => {
    const data = { run_id: 'run', labels: { user: 'ada' }, input_tokens: 5, output_tokens: 5 };
    expect(await reportedTwice([litellm(0, data), claude(1, data), litellm(2, data)])).toEqual([found(1)]);
  });

  it('are at least half of the calls of the program, else they are chance', async () => {
    const alone = [claude(9, { run_id: 'a' }), claude(9, { run_id: 'b' })];
    const both = (run: string) => [claude(9, { run_id: run }), litellm(9, { run_id: run })];
    expect(await reportedTwice([...alone, ...both('c')])).toEqual([]);
    expect(await reportedTwice([...alone, ...both('c'), ...both('d')])).toEqual([found(2, 4)]);
  });

  it('are none without tokens, run and user, and none of two programs', async () => {
    expect(await reportedTwice([claude(0), litellm(0)])).toEqual([]);
    expect(await reportedTwice([claude(0, { run_id: 'a' }), claude(0, { run_id: 'a' })])).toEqual([]);
    expect(await reportedTwice([])).toEqual([]);
  });

  it('are those of the last hour, the newest first, up to a number of calls', async () => {
    const pair = (time: number) => [claude(time, { run_id: 'a' }), litellm(time, { run_id: 'a' })];
    const all = [...pair(0), ...pair(NOW - 11 * MINUTE_MS), ...pair(NOW - 6 * MINUTE_MS), ...pair(NOW - 1)];
    expect(await compared(all)).toEqual({ found: [found(4)], start: 0, end: NOW });
    expect(await compared([claude(-1), ...all])).toEqual({ found: [found(4)], start: 0, end: NOW });
    expect(await compared(all, 4)).toEqual({ found: [found(2)], start: NOW - 10 * MINUTE_MS, end: NOW });
    expect(await compared(all, 3)).toEqual({ found: [found(1)], start: NOW - 5 * MINUTE_MS, end: NOW });
    expect(await compared(pair(NOW - MINUTE_MS), 1)).toMatchObject({ found: [], end: NOW - MINUTE_MS });
  });

  it('are those that were read until other reads of the workspace took too long', async () => {
    const settlements = [claude(NOW - 1, { run_id: 'a' }), litellm(NOW - 1, { run_id: 'a' })];
    const reader: SettlementReader = {
      settlementsFrom: async (_tenantId, _from, until) => {
        if (until < NOW) throw new AppError('rate_limited', 'Other reads take long.');
        return { settlements, next: null };
      },
    };
    const reports = createTwiceReports({ reads: createReads(), reader, clock: () => NOW });
    const compared = await reports.find(TENANT, new AbortController().signal);
    expect(compared).toEqual({ found: [found(1)], start: NOW - 5 * MINUTE_MS, end: NOW });
  });
});
