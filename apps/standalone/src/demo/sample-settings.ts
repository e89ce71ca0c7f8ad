import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { SAMPLE_AGENTS, SAMPLE_PLANS, WORKSPACE_BUDGET_MICROS } from './sample-agents.ts';

export interface SampleSettingsOptions {
  owner: { userId: string; tenantId: TenantId };
  callerTokenSecret: string;
  /** Addresses of the services. */
  identityUrl: string;
  budgetsUrl: string;
}

/**
 * Names the sample agents and sets the budgets that their traffic runs into, with the calls that an owner makes for
 * that. Repeating it changes nothing.
 */
export async function writeSampleSettings(options: SampleSettingsOptions): Promise<void> {
  const { owner, callerTokenSecret, identityUrl, budgetsUrl } = options;

  async function send(
    service: 'identity' | 'budgets',
    method: 'POST' | 'PUT',
    path: string,
    body: unknown,
  ): Promise<void> {
    const url = (service === 'identity' ? identityUrl : budgetsUrl) + path;
    const token = await signCallerToken(callerTokenSecret, service, { ...owner, role: 'owner' });
    const headers = { 'content-type': 'application/json', [CALLER_HEADER]: token };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    const text = await response.text();
    // 409: an earlier, interrupted start has made it.
    if (!response.ok && response.status !== 409)
      throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
  }

  const budgets = `/api/v1/workspaces/${owner.tenantId}/budgets`;
  await send('budgets', 'PUT', `${budgets}/workspace`, { daily_budget_usd_micros: WORKSPACE_BUDGET_MICROS });
  for (const plan of SAMPLE_PLANS) {
    const { planKey, displayName, dailyBudgetMicros } = plan;
    const body = { plan_key: planKey, display_name: displayName, daily_budget_usd_micros: dailyBudgetMicros };
    await send('budgets', 'POST', `${budgets}/plans`, body);
  }
  for (const { agentId, displayName, dailyBudgetMicros } of SAMPLE_AGENTS) {
    await send('identity', 'POST', '/api/v1/agents', { agent_id: agentId, display_name: displayName });
    await send('budgets', 'PUT', `${budgets}/agents/${agentId}`, { daily_budget_usd_micros: dailyBudgetMicros });
  }
}
