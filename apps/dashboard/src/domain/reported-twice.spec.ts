import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent, type EventData } from './event.ts';
import { createReads } from './reads.ts';
import { createTwiceReports } from './reported-twice.ts';

const TENANT = provenTenantId('ws_twice');
const MINUTE_MS = 60_000;
let made = 0;

function settled(agent_id: string, time: number, data: EventData): DashboardEvent {
  made += 1;
  const settlement_id = agent_id === 'gateway' ? `rsp:${made}` : `cc:${made}`;
  return {
    tenantId: TENANT,
    source: '',
    eventId: settlement_id,
    type: SPEND_SETTLED,
    time,
    data: { settlement_id, agent_id, ...data },
  };
}

/** What a comparison of these settlements, which are in the order of their times, finds. */
async function reportedTwice(settlements: DashboardEvent[]) {
  const reader = { settlementsFrom: async () => ({ settlements, next: null }) };
  const reports = createTwiceReports({ reads: createReads(), reader });
  return (await reports.find(TENANT, { start: 0, end: 2 * MINUTE_MS }, new AbortController().signal)).found;
}

const claude = (time: number, data: EventData = {}) => settled('claude', time, data);
const litellm = (time: number, data: EventData = {}) => settled('gateway', time, data);
const found = (alike: number, calls = alike) => ({
  ...{ program: 'claude_code', agentId: 'claude', otherAgentId: 'gateway' },
  ...{ calls, alike },
});

describe('calls that an agent program and a gateway seem to report', () => {
  it.each([
    ['run', { run_id: 'run-1' }, { run_id: 'run-2' }],
    ['user', { labels: { user: 'ada' } }, { labels: { user: 'bob' } }],
    ['numbers of tokens', { input_tokens: 1500, output_tokens: 345 }, { input_tokens: 1500, output_tokens: 346 }],
  ])('have the same %s within a minute, whichever report is first', async (_what, same, another) => {
    expect(await reportedTwice([claude(0, same), litellm(MINUTE_MS, same)])).toEqual([found(1)]);
    expect(await reportedTwice([litellm(0, same), claude(MINUTE_MS, same)])).toEqual([found(1)]);
    expect(await reportedTwice([claude(0, same), litellm(MINUTE_MS + 1, same)])).toEqual([]);
    expect(await reportedTwice([litellm(0, same), claude(MINUTE_MS + 1, same)])).toEqual([]);
    expect(await reportedTwice([claude(0, same), litellm(1, another)])).toEqual([]);
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

  it('are compared up to a number of calls, and the answer says up to which time', async () => {
    const all = [0, 10, 20, 30].map((time) => claude(time, { run_id: 'a' }));
    const reader = {
      settlementsFrom: async (
        _tenant: unknown,
        from: { time: number },
        _until: number,
        _meter: unknown,
        atMost = 0,
      ) => ({
        settlements: all.filter(({ time }) => time >= from.time).slice(0, atMost),
        next: { time: from.time + 10 * atMost, after: '' },
      }),
    };
    const reports = createTwiceReports({ reads: createReads(), reader, maxCompared: 2 });
    const { signal } = new AbortController();
    expect(await reports.find(TENANT, { start: 0, end: 40 }, signal)).toEqual({ found: [], readUntil: 20 });
  });
});
