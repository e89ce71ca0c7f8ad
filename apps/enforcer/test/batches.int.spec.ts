import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const stack = useEnforcer(useMongo(), { replicas: 2 });
const { budgets, clock, log, limitedTo } = stack;

type Batch = 'ReserveMany' | 'SettleMany' | 'ReleaseMany';
type Workspace = ReturnType<typeof limitedTo>;

const asked = (requestId: string, amountMicros: number, more: Body = {}) => ({
  ...{ requestId, agentId: 'planner', runId: 'run-1', amountMicros },
  ...more,
});
const settlement = (reservationId: string, amountMicros: number) => ({
  ...{ reservationId, settlementId: `stl-${reservationId}`, amountMicros },
});

/** The result of one request in a batch: one of the three fields is set. */
interface Result {
  error?: { code: string };
  /** The response to a reservation. */
  response?: { decision: string; allowed?: { reservation: { id: string } } };
  /** The reservation after a settlement or a release. */
  reservation?: { state: string };
}

/** The results of a batch in the order of arrival. */
async function sendOnce(workspace: Workspace, rpc: Batch, requests: Body[], replica = 0) {
  const answer = await workspace.rpc(rpc, { requests }, replica);
  if (!Array.isArray(answer['results'])) throw new Error(`expected results, got ${JSON.stringify(answer)}`);
  return answer['results'] as Result[];
}
/** Repeats the requests that could not be decided, as gateways do. */
async function send(...batch: Parameters<typeof sendOnce>): ReturnType<typeof sendOnce> {
  return eventually(async () => {
    const results = await sendOnce(...batch);
    if (!codesOf(results).includes('service_unavailable')) return results;
    // Budgets is not asked again for this long.
    clock.now += 1_001;
    throw new Error('some of the batch could not be decided');
  });
}
const idsOf = (results: Result[]): string[] => results.map(({ response }) => response!.allowed!.reservation.id);
const codesOf = (results: Result[]): string[] =>
  results.map(
    ({ error, response, reservation }) =>
      error?.code ?? response?.decision ?? reservation!.state.slice('RESERVATION_STATE_'.length).toLowerCase(),
  );

describe('a batch', () => {
  it('gets the decisions that its requests get one after the other, in their order', async () => {
    const [alone, together] = [limitedTo(1_000), limitedTo(1_000)];
    for (const { tenantId } of [alone, together]) {
      budgets.setAgent(tenantId, 'coder', 250);
      budgets.setPlan(tenantId, 'pro', 300);
    }
    const requests = Array.from({ length: 30 }, (_, index) =>
      asked(`req-${index}`, (index * 37) % 90, {
        agentId: index % 3 === 0 ? 'coder' : 'planner',
        ...(index % 4 === 0 && { planKey: 'pro' }),
      }),
    );
    // A request whose limits are known does not wait for those of others.
    for (const workspace of [alone, together]) {
      const dryRuns = ['coder', 'planner'].map((agentId) =>
        asked('none', 0, { agentId, planKey: 'pro', dryRun: true }),
      );
      await send(workspace, 'ReserveMany', dryRuns);
    }
    const single: unknown[] = [];
    for (const request of requests) single.push(await alone.rpc('Reserve', request));
    const results = (await send(together, 'ReserveMany', requests)).map(({ response }) => response);
    /** Removes the workspace's id and those of its reservations, for comparisons. */
    const anonymous = (of: unknown, { tenantId }: Workspace) =>
      JSON.stringify(of)
        .replaceAll(tenantId, 'ws')
        .replaceAll(/rsv_[0-9a-f]+/g, 'rsv');
    expect(anonymous(results, together)).toBe(anonymous(single, alone));
    expect(new Set((results as { decision: string }[]).map(({ decision }) => decision))).toEqual(
      new Set(['allowed', 'denied']),
    );
  });

  it('is refused what cannot be done, each request for itself', async () => {
    const workspace = limitedTo(1_000);
    const stranger = idsOf(await send(limitedTo(1_000), 'ReserveMany', [asked('req-1', 10)]))[0]!;
    const reserved = await send(workspace, 'ReserveMany', [
      asked('req-1', 100),
      asked('req-2', 100, { planKey: 'none' }),
      asked('req-1', 101),
      asked('req-3', 950),
      asked('a b', 1),
      asked('req-4', 100),
    ]);
    expect(codesOf(reserved)).toEqual([
      ...['allowed', 'invalid_request', 'request_id_reused', 'denied', 'invalid_request', 'allowed'],
    ]);
    expect(reserved[1]).toMatchObject({ error: { details: [{ path: 'plan_key' }] } });
    const [first, last] = idsOf([reserved[0]!, reserved[5]!]) as [string, string];
    expect(
      codesOf(
        await send(
          workspace,
          'ReleaseMany',
          [first, 'rsv_none'].map((id) => ({ reservationId: id })),
        ),
      ),
    ).toEqual(['released', 'not_found']);
    const settled = await send(
      workspace,
      'SettleMany',
      [first, last, stranger, last].map((id) => settlement(id, 90)),
    );
    expect(codesOf(settled)).toEqual(['conflict', 'settled', 'not_found', 'settled']);
    expect(await workspace.limit()).toMatchObject({ spent_micros: 90, held_micros: 0 });
    expect(workspace.events('spend.settled')).toHaveLength(1);
    expect(workspace.events('budget.blocked')).toHaveLength(1);
  });

  it('that is repeated gets the same, from another replica and after a restart', async () => {
    const workspace = limitedTo(1_000_000);
    const requests = Array.from({ length: 50 }, (_, index) => asked(`req-${index}`, 10));
    const ids = idsOf(await send(workspace, 'ReserveMany', [...requests.slice(0, 49), requests[0]!]));
    expect(new Set(ids).size).toBe(49);
    const all = idsOf(await send(workspace, 'ReserveMany', requests, 1));
    expect(all.slice(0, 49)).toEqual(ids.slice(0, 49));
    await stack.restart();
    expect(idsOf(await send(workspace, 'ReserveMany', requests))).toEqual(all);
    expect(await workspace.limit()).toMatchObject({ held_micros: 500, open_reservations: 50 });

    const settlements = all.map((id) => settlement(id, 9));
    const settled = await send(workspace, 'SettleMany', settlements);
    expect(await send(workspace, 'SettleMany', settlements, 1)).toEqual(settled);
    expect(await workspace.limit()).toMatchObject({ spent_micros: 450, held_micros: 0 });
    expect(workspace.events('spend.settled')).toHaveLength(50);
  });

  it('of two replicas at the same time never passes a limit', async () => {
    const workspace = limitedTo(1_000);
    const batch = (replica: number) => Array.from({ length: 40 }, (_, index) => asked(`req-${replica}-${index}`, 30));
    const results = (
      await Promise.all([0, 1].map((replica) => send(workspace, 'ReserveMany', batch(replica), replica)))
    ).flat();
    expect(codesOf(results).filter((code) => code === 'allowed')).toHaveLength(33);
    expect(await workspace.limit()).toMatchObject({ held_micros: 990, remaining_micros: 10 });
  });

  it('answers those that can be decided, while the limits of another cannot be read', async () => {
    const workspace = limitedTo(1_000);
    await workspace.granted(1);
    budgets.state.down = true;
    const requests = [asked('req-1', 1), asked('req-2', 1, { agentId: 'new' }), asked('req-3', 1)];
    const results = await sendOnce(workspace, 'ReserveMany', requests);
    expect(codesOf(results)).toEqual(['allowed', 'service_unavailable', 'allowed']);
    expect(results[1]).toMatchObject({ error: { retryAfterSeconds: 1 } });
    budgets.state.down = false;
    expect(codesOf(await send(workspace, 'ReserveMany', requests))).toEqual(Array(3).fill('allowed'));
  });

  it('is denied while the log is down, and learns that each settlement can be retried', async () => {
    const workspace = limitedTo(1_000);
    const ids = idsOf(await send(workspace, 'ReserveMany', [asked('req-1', 10), asked('req-2', 10)]));
    log.down = true;
    const settlements = ids.map((id) => settlement(id, 9));
    const refused = await sendOnce(workspace, 'SettleMany', settlements);
    expect(codesOf(refused)).toEqual(Array(2).fill('service_unavailable'));
    expect(codesOf(await send(workspace, 'ReserveMany', [asked('req-3', 5_000)]))).toEqual(['denied']);
    log.down = false;
    expect(codesOf(await send(workspace, 'SettleMany', settlements))).toEqual(Array(2).fill('settled'));
  });
});
