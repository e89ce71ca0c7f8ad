import { describe, expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { type Body, useEnforcer } from './enforcer.stack.ts';

const stack = useEnforcer(useMongo());
const { clock, identity, budgets } = stack;
const AGENT = 'planner';

/** The spend in the log, with its key and its labels. */
const spendOf = (workspace: ReturnType<typeof stack.newWorkspace>) =>
  stack.log.appended
    .filter(({ tenantId, event }) => tenantId === workspace.tenantId && event.type === 'spend.settled')
    .map(({ keyId, event }) => ({ keyId, ...(event.data as Body) }));

describe('the labels of a reservation', () => {
  it('are those of its key, its agent and its call, in this order, and its spend has them too', async () => {
    const workspace = stack.newWorkspace({ env: 'prod', 'cost.center': '42' });
    identity.setLabels(workspace.tenantId, AGENT, { team: 'growth', env: 'dev' });
    const asked = { amount_micros: 10, labels: { user: 'Zoë', team: 'other' }, model: 'large-1', provider: 'acme' };
    const reservation = await workspace.granted(asked);
    const labels = { user: 'Zoë', team: 'growth', env: 'prod', 'cost.center': '42' };
    expect(reservation).toMatchObject({ model: 'large-1', provider: 'acme', labels });

    await stack.restart();
    expect(await workspace.read(reservation.id)).toMatchObject({ model: 'large-1', provider: 'acme', labels });
    await workspace.settle(reservation.id, 7);
    expect(spendOf(workspace)).toEqual([
      expect.objectContaining({ keyId: workspace.keyId, labels, model: 'large-1', provider: 'acme' }),
    ]);
  });

  it('stay as they were at its grant, when those of the agent change', async () => {
    const workspace = stack.newWorkspace();
    identity.setLabels(workspace.tenantId, AGENT, { team: 'growth' });
    const asked = { request_id: 'req-1', amount_micros: 10, labels: { team: 'sales' } };
    const { id } = await workspace.granted(asked);
    identity.setLabels(workspace.tenantId, AGENT, { team: 'research' });
    clock.now += 2_000;
    expect(await workspace.granted(asked)).toMatchObject({ id, labels: { team: 'growth' } });
    expect((await workspace.granted(1))['labels']).toEqual({ team: 'research' });
  });

  it('are none for a gateway that sends none, and its spend looks as before', async () => {
    const workspace = stack.newWorkspace();
    const reservation = await workspace.granted(10);
    expect(reservation).toMatchObject({ model: null, provider: null, labels: {} });
    await workspace.settle(reservation.id, 7);
    expect(Object.keys(spendOf(workspace)[0]!)).not.toContain('labels');
    expect(Object.keys(spendOf(workspace)[0]!)).not.toContain('model');
  });

  it('of a call may repeat what its key pins; another value is 403, names the label, and holds nothing', async () => {
    const workspace = stack.newWorkspace({ env: 'prod' });
    expect((await workspace.reserve({ amount_micros: 1, labels: { env: 'prod' } })).status).toBe(201);
    expect(await workspace.reserve({ amount_micros: 1, labels: { team: 'a', env: 'dev' } })).toMatchObject({
      status: 403,
      body: { code: 'label_pinned', details: [{ path: 'labels.env', message: expect.stringContaining('prod') }] },
    });
    const request = { requestId: 'r', agentId: AGENT, runId: 'run', amountMicros: 1, labels: { env: 'dev' } };
    expect(await workspace.rpc('Reserve', request)).toMatchObject({
      status: 'PERMISSION_DENIED',
      code: 'label_pinned',
    });
    budgets.setWorkspace(workspace.tenantId, 100);
    clock.now += 2_000;
    expect(await workspace.limit()).toMatchObject({ held_micros: 1 });
  });

  it('and those of its key may change before a request is repeated: it gets the same reservation', async () => {
    const workspace = stack.newWorkspace({ env: 'prod' });
    identity.setLabels(workspace.tenantId, AGENT, { team: 'growth' });
    const asked = { request_id: 'req-1', amount_micros: 1, labels: { team: 'sales', env: 'prod' } };
    const { id } = await workspace.granted(asked);
    identity.setLabels(workspace.tenantId, AGENT, {});
    stack.keys.pin(workspace.keyId, { env: 'test' });
    clock.now += 6_000;
    expect(await workspace.granted(asked)).toMatchObject({ id, labels: { team: 'growth', env: 'prod' } });
    expect(await workspace.reserve({ ...asked, request_id: 'req-2' })).toMatchObject({
      status: 403,
      body: { details: [{ path: 'labels.env' }] },
    });
  });

  it.each([
    { labels: { team: 'sales' } },
    { labels: { team: 'growth', user: 'a' } },
    { labels: {} },
    { model: 'small-1' },
    { model: undefined },
    { provider: 'other' },
  ])('are content of its request: the same request_id with %j is 409', async (other) => {
    const workspace = stack.newWorkspace();
    // Overrides the label of the call, which still counts as its content.
    identity.setLabels(workspace.tenantId, AGENT, { team: 'research' });
    const asked = { request_id: 'req-1', amount_micros: 1, labels: { team: 'growth' }, model: 'large-1' };
    await workspace.granted(asked);
    const answer = await workspace.reserve({ ...asked, ...other });
    expect(answer).toMatchObject({ status: 409, body: { code: 'request_id_reused' } });
  });

  it('are in the event of a denial, with its key, and denials of other labels are other events', async () => {
    const workspace = stack.newWorkspace({ env: 'prod' });
    budgets.setWorkspace(workspace.tenantId, 0);
    const asked = { amount_micros: 1, model: 'large-1', provider: 'acme' };
    for (const team of ['growth', 'sales']) await workspace.reserve({ ...asked, labels: { team } });
    const denials = stack.log.appended.filter(({ tenantId }) => tenantId === workspace.tenantId);
    expect(denials[0]!.event.data).toMatchObject({ model: 'large-1', provider: 'acme' });
    expect(denials.map(({ keyId, event }) => [keyId, (event.data as Body)['labels']])).toEqual([
      [workspace.keyId, { env: 'prod', team: 'growth' }],
      [workspace.keyId, { env: 'prod', team: 'sales' }],
    ]);
  });

  it('are the last known ones while identity is down; an agent that is not known yet gets 503', async () => {
    const workspace = stack.newWorkspace();
    identity.setLabels(workspace.tenantId, AGENT, { team: 'growth' });
    await workspace.granted(1);
    identity.state.down = true;
    clock.now += 3_600_000;
    expect((await workspace.granted(1))['labels']).toEqual({ team: 'growth' });
    const unknown = { amount_micros: 1, agent_id: 'coder' };
    expect(await workspace.reserve(unknown, { once: true })).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable' },
      retryAfter: '1',
    });
    identity.state.down = false;
    expect((await workspace.reserve(unknown)).status).toBe(201);
  });
});
