import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { BATCH, spend, useIngest } from './ingest.stack.ts';

const { keys, agents, clock, post, logged } = useIngest(useMongo());
const where = { run_id: 'run-1', agent_id: 'agent-1' };
const blocked = { ...where, scope: 'agent', requested_micros: 5, spent_micros: 10, daily_budget_usd_micros: 12 };
const guarded = { ...where, guard: 'pii', reason: 'an e-mail address' };

describe('the labels of a call in the log', () => {
  it('are those of its key, its agent and its event, in this order, for every type of call', async () => {
    const { apiKey, tenantId, keyId } = keys.issue('developer', { env: 'prod', 'cost.center': '42' });
    agents.setLabels(tenantId, 'agent-1', { team: 'growth', env: 'dev' });
    const labels = { user: 'Zoë', team: 'sales', env: 'test' };
    const body = [
      spend({}, { labels }),
      spend({ type: 'budget.blocked', data: { ...blocked, labels } }),
      spend({ type: 'guard.blocked', data: { ...guarded, labels } }),
      spend({}, { agent_id: 'agent-2', labels: { team: 'sales' } }),
      spend({ type: 'tool.called', data: { ...where, labels } }),
    ];
    expect((await post({ apiKey, type: BATCH, body })).status).toBe(202);

    const all = { user: 'Zoë', team: 'growth', env: 'prod', 'cost.center': '42' };
    const ofOther = { team: 'sales', env: 'prod', 'cost.center': '42' };
    await eventually(() =>
      expect(logged(tenantId).map((record) => [record.keyId, labelsIn(record.event.data)])).toEqual([
        [keyId, all],
        [keyId, all],
        [keyId, all],
        [keyId, ofOther],
        [keyId, undefined],
      ]),
    );
  });

  it('are never those of an agent of another workspace', async () => {
    const [one, other] = [keys.issue(), keys.issue()];
    agents.setLabels(other.tenantId, 'agent-1', { team: 'theirs' });
    for (const { apiKey } of [other, one]) expect((await post({ apiKey, body: spend() })).status).toBe(202);
    await eventually(() => expect(logged(one.tenantId)).toHaveLength(1));
    expect(labelsIn(logged(one.tenantId)[0]!.event.data)).toBeUndefined();
  });

  it('count against the quota of bytes, also those that events get from their key and agent', async () => {
    const labels = Object.fromEntries(Array.from({ length: 10 }, (_, nth) => [`label_${nth}`, '€'.repeat(128)]));
    const { apiKey } = keys.issue('developer', labels);
    const body = Array.from({ length: 1000 }, () => spend());
    const statuses: number[] = [];
    for (let nth = 0; nth < 8; nth += 1) statuses.push((await post({ apiKey, type: BATCH, body })).status);
    // Each batch has 0.2 MB, and 4 MB with its labels; the quota is 20 MB at once.
    expect(statuses.filter((status) => status === 202).length).toBeLessThan(7);
    expect(statuses.at(-1)).toBe(429);
  });

  it('never keep a body out that waits as long as it was told', async () => {
    const { apiKey } = keys.issue('developer', { env: 'prod' });
    // Each batch has more bytes than a second's quota.
    const body = Array.from({ length: 1000 }, () =>
      spend({ subject: 's'.repeat(1_000), dataschema: 'd'.repeat(1_000) }),
    );
    const waited: number[] = [];
    for (let nth = 0; nth < 16; nth += 1) {
      const { status, headers } = await post({ apiKey, type: BATCH, body });
      waited.push(status);
      if (status === 429) clock.now += Number(headers['retry-after']) * 1_000;
    }
    expect(waited.slice(-6)).toEqual([202, 429, 202, 429, 202, 429]);
  });

  it('are refused by their names, as all the others of the batch', async () => {
    const { apiKey } = keys.issue();
    const body = [spend(), spend({}, { labels: { Team: 'a' } })];
    expect(await post({ apiKey, type: BATCH, body })).toMatchObject({
      status: 400,
      body: { details: [{ path: '[1].data.labels.Team' }] },
    });
  });

  it('are the last known ones while identity is down; events of an agent not known yet are 503', async () => {
    const { apiKey, tenantId } = keys.issue();
    agents.setLabels(tenantId, 'agent-1', { team: 'growth' });
    expect((await post({ apiKey, body: spend() })).status).toBe(202);
    agents.state.down = true;
    clock.now += 4_000;
    expect((await post({ apiKey, body: spend() })).status).toBe(202);
    const refused = await post({ apiKey, type: BATCH, body: [spend(), spend({}, { agent_id: 'agent-2' })] });
    expect(refused).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(refused.headers['retry-after']).toBe('1');
    agents.state.down = false;
    clock.now += 2_000;
    expect((await post({ apiKey, body: spend({}, { agent_id: 'agent-2' }) })).status).toBe(202);
    await eventually(() =>
      expect(logged(tenantId).map(({ event }) => labelsIn(event.data))).toEqual([
        { team: 'growth' },
        { team: 'growth' },
        undefined,
      ]),
    );
  });
});

function labelsIn(data: object): unknown {
  return 'labels' in data ? data.labels : undefined;
}
