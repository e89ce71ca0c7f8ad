import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiAnswer, type ApiClient, anonymous, logIn } from '../api.client.ts';
import { cloudEvent, spendSettled } from '../events.ts';
import type { Stage } from '../deployment.ts';
import { rememberSecret } from '../secrets.ts';
import { type TestWorkspace, newKey, newMember, newWorkspace, postEvents } from '../workspace.ts';

const RESERVATIONS = '/api/v1/reservations';

interface Granted {
  decision: string;
  reservation: { id: string; state: string };
}
interface Limits {
  items: Record<string, unknown>[];
}

export function describeEnforcement({ deployment: target, receiver }: Stage): void {
  describe('enforcement, from the budget to the denied call', () => {
    let owner: ApiClient;
    let member: ApiClient;
    let workspace: TestWorkspace;

    const withKey = (apiKey: string, method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
      anonymous(target()).call({ method, path, body, headers: { authorization: `Bearer ${apiKey}` } });
    /** Retries after a 503, as gateways do. */
    const call = (method: string, path: string, body?: unknown): Promise<ApiAnswer> =>
      eventually(async () => {
        const answer = await withKey(workspace.apiKey, method, path, body);
        expect(answer.status).not.toBe(503);
        return answer;
      });
    const request = (amount: number, requestId: string = randomUUID()) => ({
      ...{ request_id: requestId, agent_id: 'agent-a', run_id: 'run-1', amount_micros: amount },
    });
    const granted = async (amount: number) => {
      const { status, body } = await call('POST', RESERVATIONS, request(amount));
      expect(status).toBe(201);
      return (body as Granted).reservation.id;
    };
    const limit = async () => {
      const { items } = await eventually(() => member.expect<Limits>({ path: workspace.path('/limits') }));
      return items[0];
    };

    beforeAll(async () => {
      owner = await logIn(target(), target().owner);
      workspace = await newWorkspace(owner);
      member = await newMember(target(), owner, workspace, 'member');
      const path = `/api/v1/workspaces/${workspace.id}/budgets/workspace`;
      await owner.expect({ method: 'PUT', path, body: { daily_budget_usd_micros: 1000 } });
      const rule = {
        ...{ name: 'Denied', severity: 'high', rule_kind: 'event_count_gte' },
        ...{ scope_type: 'workspace', scope_id: workspace.id },
        rule_config: { window_seconds: 600, threshold: 1, filters: { event_types: ['budget.blocked'] } },
      };
      await owner.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body: rule, status: 201 });
    });

    it('a budget that is made in the middle of its month counts what its team spent before, and denies by it', async () => {
      const other = await newWorkspace(owner);
      const labels = { team: 'growth' };
      const events = [70, 20, 500].map((amountMicros, index) => {
        const event = spendSettled({ amountMicros });
        return index < 2 ? { ...event, data: { ...event.data, labels } } : event;
      });
      expect((await postEvents(target(), other.apiKey, events)).status).toBe(202);
      const budget = { name: 'Growth', period: { kind: 'month' }, selector: { labels }, limit_micros: 100 };
      await owner.expect({ method: 'POST', path: other.path('/budgets'), body: budget, status: 201 });
      await eventually(async () => {
        const { items } = await owner.expect<Limits>({ path: other.path('/limits') });
        expect(items).toMatchObject([{ budget_name: 'Growth', state: 'exact', spent_micros: 90 }]);
      });
      const denied = await withKey(other.apiKey, 'POST', RESERVATIONS, { ...request(11), labels });
      expect(denied.body).toMatchObject({ decision: 'denied', denial: { budget_name: 'Growth', spent_micros: 90 } });
    });

    it('a call over the edge of the budget is denied; people see it on the dashboard, and a rule fires', async () => {
      const id = await granted(900);
      const denied = await call('POST', RESERVATIONS, request(101, 'req-denied'));
      expect(denied).toMatchObject({
        status: 200,
        body: {
          decision: 'denied',
          denial: { scope: 'workspace', scope_id: workspace.id, held_micros: 900, requested_micros: 101 },
        },
      });
      await eventually(async () => {
        const blocked = workspace.path('/dashboard/budget-blocked?range=5min');
        expect(await owner.expect({ path: blocked })).toMatchObject({
          total: 1,
          items: [{ agent_id: 'agent-a', run_id: 'run-1', scope: 'workspace', requested_micros: 101 }],
        });
        const alerts = await owner.expect({ path: workspace.path('/alerts') });
        expect(alerts).toMatchObject({ total: 1, items: [{ rule_name: 'Denied', status: 'firing' }] });
      });
      // A repeated denial is the same event.
      expect((await call('POST', RESERVATIONS, request(101, 'req-denied'))).body).toMatchObject({ decision: 'denied' });
      expect(await call('POST', `${RESERVATIONS}/${id}:release`)).toMatchObject({ body: { state: 'released' } });
      expect((await call('POST', RESERVATIONS, request(1000, 'req-whole'))).status).toBe(201);
      const whole = await call('POST', RESERVATIONS, request(1000, 'req-whole'));
      await call('POST', `${RESERVATIONS}/${(whole.body as Granted).reservation.id}:release`);
    });

    it('the denials of an agent in a loop are all on the dashboard, in few events', async () => {
      const denials = 60;
      for (let n = 0; n < denials; n += 1) {
        const asked = { ...request(1001, `req-loop-${n}`), agent_id: 'agent-loop' };
        expect((await call('POST', RESERVATIONS, asked)).body).toMatchObject({ decision: 'denied' });
      }
      const path = workspace.path('/dashboard/budget-blocked?range=5min&agent_id=agent-loop&limit=100');
      await eventually(async () => {
        const { total, items } = (await owner.expect({ path })) as { total: number; items: { count?: number }[] };
        expect(total).toBe(denials);
        expect(items.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(denials);
        expect(items.length).toBeLessThan(denials / 2);
      });
    });

    it('who is denied asks for more; an owner grants it, the same call passes, and without the raise it is denied', async () => {
      const other = await newWorkspace(owner);
      const admin = await newMember(target(), owner, other, 'admin');
      const path = `/api/v1/workspaces/${other.id}/budgets/workspace`;
      await owner.expect({ method: 'PUT', path, body: { daily_budget_usd_micros: 15 } });
      await tellOwnersOfRequests(owner, other, `${receiver().url}/${other.slug}`);
      const reserve = async (amount: number, requestId: string) =>
        (await withKey(other.apiKey, 'POST', RESERVATIONS, request(amount, requestId))).body as {
          decision: string;
          denial: { budget_id: string; message: string };
        };
      const decides = (decision: string, amount: number, requestId: string) =>
        eventually(async () => {
          const answer = await reserve(amount, requestId);
          expect(answer).toMatchObject({ decision });
          return answer;
        });
      await decides('allowed', 15, 'first');
      const { denial } = await decides('denied', 5, 'more');
      expect(denial.message).toContain('POST /api/v1/raise-requests');

      const until = new Date(Date.now() + 3_600_000).toISOString();
      const asked = { request_id: 'r-1', budget_id: denial.budget_id, extra_micros: 10, until, reason: 'Night run' };
      const ask = () => withKey(other.apiKey, 'POST', '/api/v1/raise-requests', asked);
      const { id } = (
        await eventually(async () => {
          const answer = await ask();
          expect(answer).toMatchObject({ status: 201, body: { state: 'requested' } });
          return answer;
        })
      ).body as { id: string };
      const act = (client: ApiClient, verb: string, body?: unknown) =>
        client.call({ method: 'POST', path: other.path(`/raises/${id}:${verb}`), body });
      expect((await act(admin, 'approve', {})).status).toBe(403);
      expect((await withKey(other.apiKey, 'POST', other.path(`/raises/${id}:approve`), {})).status).toBe(401);
      await decides('denied', 5, 'more');
      const link = await eventually(() => {
        const { body } = receiver().received.find((each) => each.path.endsWith(other.slug)) ?? {};
        return new URL((JSON.parse(String(body)) as { data: { url: string } }).data.url);
      });
      expect(link.pathname).toBe(`/w/${other.slug}/raises/${id}`);
      const token = link.searchParams.get('token') ?? '';
      rememberSecret(token);
      const approved = await act(owner, 'approve', { extra_micros: 6, token });
      expect(approved).toMatchObject({ status: 200, body: { state: 'active', asked_micros: 10 } });
      expect((await act(owner, 'decline', { reason: 'No', token })).status).toBe(409);
      expect((await admin.call({ path: other.path('/alerts') })).text).not.toContain(token);
      await decides('allowed', 5, 'more');
      expect(await admin.expect<Limits>({ path: other.path('/limits') })).toMatchObject({
        items: [{ limit_micros: 15, raised_micros: 6, raised_until: until, held_micros: 20, remaining_micros: 1 }],
      });
      expect(await act(owner, 'end')).toMatchObject({ status: 200, body: { state: 'ended' } });
      await eventually(async () => {
        const dry = await withKey(other.apiKey, 'POST', RESERVATIONS, { ...request(1), dry_run: true });
        expect(dry.body).toMatchObject({ decision: 'denied', denial: { limit_micros: 15, held_micros: 20 } });
      });
      await eventually(async () => {
        const audit = await owner.expect<{ items: { action: string; actor: { type: string } }[] }>({
          path: other.path('/audit?target_type=raise'),
        });
        const inOrder = audit.items.toReversed().map(({ action, actor }) => [action, actor.type]);
        expect(inOrder).toEqual([
          ['raise.request', 'key'],
          ['raise.grant', 'user'],
          ['raise.end', 'user'],
        ]);
      });
    });

    it('what a call has cost is on the dashboard once, and takes from the limit once, whichever ways it is reported', async () => {
      const id = await granted(500);
      const settlement = { settlement_id: randomUUID(), amount_micros: 300 };
      const event = cloudEvent('spend.settled', {
        ...settlement,
        ...{ run_id: 'run-1', agent_id: 'agent-a', reservation_id: id },
      });
      const settle = () => call('POST', `${RESERVATIONS}/${id}:settle`, settlement);
      expect(await settle()).toMatchObject({ status: 200, body: { state: 'settled', settled_micros: 300 } });
      expect((await postEvents(target(), workspace.apiKey, event)).status).toBe(202);
      expect((await settle()).status).toBe(200);

      const reported = await granted(500);
      const other = { ...event.data, settlement_id: randomUUID(), amount_micros: 40, reservation_id: reported };
      expect((await postEvents(target(), workspace.apiKey, cloudEvent('spend.settled', other))).status).toBe(202);
      await eventually(async () => {
        expect((await call('GET', `${RESERVATIONS}/${reported}`)).body).toMatchObject({ state: 'settled' });
        const spend = await owner.expect({ path: workspace.path('/dashboard/spend?range=5min') });
        expect(spend).toMatchObject({ metrics: { total_micros: 340, unique_settlements: 2 } });
      });
      expect(await limit()).toMatchObject({
        ...{ daily_budget_usd_micros: 1000, spent_micros: 340, held_micros: 0, remaining_micros: 660 },
        overspend_micros: { above_hold: 0, late: 0, unreserved: 0 },
      });
    });

    it('an owner frees a hold that hangs; admins see it, and members only the limits', async () => {
      const id = await granted(600);
      const list = workspace.path('/limits/reservations?state=held');
      const path = workspace.path(`/limits/reservations/${id}:release`);
      const admin = await newMember(target(), owner, workspace, 'admin');
      expect(await admin.expect({ path: list })).toMatchObject({ items: [{ id, amount_micros: 600 }] });
      expect((await member.call({ path: list })).status).toBe(403);
      expect((await admin.call({ method: 'POST', path })).status).toBe(403);
      expect(await owner.expect({ method: 'POST', path })).toMatchObject({ id, state: 'released' });
      expect(await limit()).toMatchObject({ held_micros: 0 });
    });

    it('keys are for gateways and sessions for people', async () => {
      const readOnly = (await newKey(owner, workspace.slug, 'read_only')).api_key;
      expect((await withKey(readOnly, 'POST', RESERVATIONS, request(1))).status).toBe(403);
      expect((await owner.call({ method: 'POST', path: RESERVATIONS, body: request(1) })).status).toBe(401);
      for (const path of ['/limits', '/limits/reservations']) {
        expect((await withKey(workspace.apiKey, 'GET', workspace.path(path))).status).toBe(401);
      }
      const foreign = await newWorkspace(owner);
      const id = await granted(1);
      expect((await withKey(foreign.apiKey, 'GET', `${RESERVATIONS}/${id}`)).status).toBe(404);
    });
  });
}

/** A rule by which a webhook gets each request for a raise. */
async function tellOwnersOfRequests(owner: ApiClient, workspace: TestWorkspace, url: string): Promise<void> {
  const channel = { channel_type: 'webhook', config: { url } };
  const path = workspace.path('/alerts/channels');
  const { id } = await owner.expect<{ id: string }>({ method: 'POST', path, body: channel, status: 201 });
  const rule = {
    ...{ name: 'Raises', severity: 'info', rule_kind: 'event_count_gte', channel_config_ids: [id] },
    ...{ scope_type: 'workspace', scope_id: workspace.id },
    rule_config: { window_seconds: 3600, threshold: 1, filters: { event_types: ['raise.requested'] } },
  };
  await owner.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body: rule, status: 201 });
}
