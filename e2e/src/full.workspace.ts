import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type ApiClient, anonymous } from './api.client.ts';
import { budgetBlocked, cloudEvent, guardBlocked, spendSettled, withLabels } from './events.ts';
import type { Target } from './target.ts';
import type { WebhookReceiver } from './webhook.receiver.ts';
import { newMember, newWorkspace, reportEvents, type TestWorkspace } from './workspace.ts';

const MINUTE_MS = 60_000;
const CALLS = 60;
const CALL_EVERY_MS = 40 * MINUTE_MS;
/** All events of the workspace are younger. */
export const FULL_SPAN_MS = CALLS * CALL_EVERY_MS;
/** Longer than the suite, so that nothing resolves or expires in it. */
const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;
const AGENTS = ['agent-0', 'agent-1', 'agent-2', 'agent-a', 'leaser', 'reserver'];

interface Lists {
  total: number;
  items: unknown[];
}

/** A workspace with something of everything that is stored, which nobody changes afterwards. */
export interface FullWorkspace {
  workspace: TestWorkspace;
  /** The third event of a rule that has counted two. */
  fireHalfFullRule(): Promise<void>;
}

export async function newFullWorkspace(
  target: Target,
  owner: ApiClient,
  receiver: WebhookReceiver,
): Promise<FullWorkspace> {
  const workspace = await newWorkspace(owner);
  const { apiKey, path } = workspace;
  const report = (...args: Parameters<typeof cloudEvent>) => reportEvents(target, apiKey, cloudEvent(...args));

  await setBudgets(owner, workspace);
  await newMember(target, owner, workspace, 'admin');
  await createRules(owner, workspace, receiver);
  const calls = Array.from({ length: CALLS }, (_, n) => {
    const time = new Date(Date.now() - n * CALL_EVERY_MS).toISOString();
    const call = spendSettled({ agentId: `agent-${n % 3}`, runId: `run-${n % 7}`, amountMicros: 1000 + n, time });
    return withLabels(call, { team: n % 2 === 0 ? 'growth' : 'care' });
  });
  await reportEvents(target, apiKey, calls);
  await reportEvents(target, apiKey, [
    budgetBlocked('run-1'),
    budgetBlocked('run-2'),
    guardBlocked('run-3', 'agent-1'),
  ]);
  for (let n = 0; n < 2; n += 1) await report('night.watch', {});
  await reserve(target, workspace);
  await eventually(async () => {
    const overview = await owner.expect({ path: path('/dashboard/overview?range=1m') });
    expect(overview).toMatchObject({ spend: { unique_settlements: CALLS + 1 }, blocked: { budget: 3, guard: 1 } });
    const limits = await owner.expect<Lists>({ path: path('/limits') });
    expect(limits.items).toContainEqual(expect.objectContaining({ budget_name: 'Growth', state: 'exact' }));
    const agents = await owner.expect<{ items: { agent_id: string }[] }>({ path: path('/agents') });
    expect(agents.items.map(({ agent_id }) => agent_id).toSorted()).toEqual(AGENTS);
    const alerts = await owner.expect<Lists>({ path: path('/alerts') });
    expect(alerts).toMatchObject({ total: 1, items: [{ deliveries: [{ status: 'delivered' }] }] });
  });

  return {
    workspace,
    fireHalfFullRule: () => report('night.watch', {}),
  };
}

async function setBudgets(owner: ApiClient, { id, path }: TestWorkspace): Promise<void> {
  const agent = { agent_id: 'agent-0', display_name: 'The first' };
  await owner.expect({ method: 'POST', path: path('/agents'), body: agent, status: 201 });
  const budgets = `/api/v1/workspaces/${id}/budgets`;
  for (const [of, micros] of [
    ['workspace', 2_000_000],
    ['agents/agent-0', 900_000],
  ] as const) {
    const body = { daily_budget_usd_micros: micros };
    await owner.expect({ method: 'PUT', path: `${budgets}/${of}`, body });
  }
  const budget = { name: 'Growth', period: { kind: 'month' }, selector: { labels: { team: 'growth' } } };
  const body = { ...budget, limit_micros: 500_000 };
  await owner.expect({ method: 'POST', path: path('/budgets'), body, status: 201 });
}

/** One rule that fires, and one that counts two events of three. */
async function createRules(owner: ApiClient, { id, slug, path }: TestWorkspace, receiver: WebhookReceiver) {
  const config = { url: `${receiver.url}/${slug}`, signing_secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  const channel = { channel_type: 'webhook', config };
  const made = await owner.expect<{ id: string }>({
    ...{ method: 'POST', path: path('/alerts/channels'), body: channel, status: 201 },
  });
  for (const [type, threshold] of [
    ['guard.blocked', 1],
    ['night.watch', 3],
  ] as const) {
    const rule = {
      ...{ name: type, severity: 'high', scope_type: 'workspace', scope_id: id, channel_config_ids: [made.id] },
      rule_kind: 'event_count_gte',
      rule_config: { window_seconds: DAY_SECONDS, threshold, filters: { event_types: [type] } },
    };
    await owner.expect({ method: 'POST', path: path('/alerts/rules'), body: rule, status: 201 });
  }
}

/** A reservation in each state, a denied call, and an open lease. */
async function reserve(target: Target, { apiKey }: TestWorkspace): Promise<void> {
  const post = async <T>(path: string, body: object = {}) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await eventually(async () => {
      const attempt = await anonymous(target).call({ method: 'POST', path, body, headers });
      expect(attempt.status).toBeLessThan(500);
      return attempt;
    });
    if (answer.status > 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`);
    return answer.body as T;
  };
  const call = (amount: number) => ({
    ...{ request_id: randomUUID(), agent_id: 'reserver', run_id: 'run-1', ttl_seconds: HOUR_SECONDS },
    amount_micros: amount,
  });
  const granted = (amount: number) =>
    post<{ reservation: { id: string } }>('/api/v1/reservations', call(amount)).then(
      ({ reservation }) => reservation.id,
    );
  await granted(5_000);
  await post(`/api/v1/reservations/${await granted(6_000)}:release`);
  await post(`/api/v1/reservations/${await granted(7_000)}:settle`, {
    settlement_id: randomUUID(),
    amount_micros: 6_500,
  });
  await post('/api/v1/reservations', call(1_900_000_000));
  const lease = {
    request_id: randomUUID(),
    agent_id: 'leaser',
    amount_micros: 4_000,
    min_micros: 10,
    ttl_seconds: 600,
  };
  await post('/api/v1/leases', lease);
}
