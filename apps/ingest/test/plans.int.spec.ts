import { describe, expect, it } from '@jest/globals';
import { isSpendSettled } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useIngest } from './ingest.stack.ts';
import { traces } from './otlp.bodies.ts';
import { callSpan, RECEIVED_MS } from './senders.ts';

const { keys, prices: budgets, clock, metrics, url, logged } = useIngest(useMongo());
clock.now = RECEIVED_MS;

let spans = 0;

/** Reports a call under each of the plans. Resolves to the warning of the answer. */
async function report(apiKey: string, ...plans: string[]): Promise<string> {
  const calls = plans.map((plan) => {
    spans += 1;
    const attributes = [['gen_ai.usage.cost', 0.5] as const, ['tollkeeper.plan', plan] as const];
    return callSpan(attributes, spans.toString(16).padStart(16, '0'));
  });
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const body = new Uint8Array(traces({ spans: calls }, 'json'));
  const answer = await fetch(`${url()}/v1/traces`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
  const { partialSuccess } = (await answer.json()) as { partialSuccess?: { errorMessage: string } };
  return partialSuccess?.errorMessage ?? '';
}

/** The plans of the settlements in the log, in order. */
const plansOf = (tenantId: TenantId) =>
  logged(tenantId).flatMap(({ event }) => (isSpendSettled(event) ? [event.data.plan_key] : []));

describe('the plan that a call names', () => {
  it('counts if the workspace has it, else it is left out, counted, and the sender is warned', async () => {
    const leftOut = async () =>
      (await metrics.registry.getSingleMetric('ingest_reported_plans_left_out_total')!.get()).values[0]?.value ?? 0;
    const { apiKey, tenantId } = keys.issue();
    const before = await leftOut();
    expect(await report(apiKey, 'gold', 'silver', 'Not a key')).toMatch(/^2 calls are taken without the reported plan/);
    expect(await report(apiKey, 'gold')).toBe('');
    await eventually(() => expect(plansOf(tenantId)).toEqual(['gold', undefined, undefined, 'gold']));
    expect(await leftOut()).toBe(before + 2);
  });

  it('is asked for once in 3 seconds, so a new plan counts after that', async () => {
    const { apiKey, tenantId } = keys.issue();
    await report(apiKey, 'new');
    const asked = budgets.state.askedForPlans;
    budgets.plans.push('new');
    clock.now += 2_999;
    await report(apiKey, 'new');
    expect(budgets.state.askedForPlans).toBe(asked);
    clock.now += 1;
    await report(apiKey, 'new');
    await eventually(() => expect(plansOf(tenantId)).toEqual([undefined, undefined, 'new']));
  });

  it('stays while budgets is down and nobody knows whether there is such a plan', async () => {
    const { apiKey, tenantId } = keys.issue();
    await report(apiKey, 'silver');
    budgets.state.down = true;
    clock.now += 3_000;
    expect(await report(apiKey, 'bronze')).toBe('');
    await report(apiKey, 'silver');
    budgets.state.down = false;
    await eventually(() => expect(plansOf(tenantId)).toEqual([undefined, 'bronze', undefined]));
  });
});
