import { CALLER_HEADER, signCallerToken } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { SAMPLE_AGENTS, SAMPLE_PLANS, WORKSPACE_BUDGET_MICROS } from './sample-agents.ts';
import { SAMPLE_CHANNEL, SAMPLE_RULES } from './sample-rules.ts';

export interface SampleSettingsOptions {
  owner: { userId: string; tenantId: TenantId; name: string };
  callerTokenSecret: string;
  urls: Record<SettingsService, string>;
}

interface Named {
  id: string;
  name: string;
}

type SettingsService = 'identity' | 'budgets' | 'alerts' | 'notifier';

/**
 * Names the sample agents, sets budgets that their traffic uses up, and creates rules and a channel for alerts about
 * it, through the same API calls as an owner. Repeating it changes nothing.
 */
export async function writeSampleSettings(options: SampleSettingsOptions): Promise<void> {
  const { owner, callerTokenSecret, urls } = options;

  async function send(
    service: SettingsService,
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: object,
  ): Promise<unknown> {
    const url = urls[service] + path;
    const token = await signCallerToken(callerTokenSecret, service, { ...owner, role: 'owner' });
    const headers = { 'content-type': 'application/json', [CALLER_HEADER]: token };
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const text = await response.text();
    // 409: an interrupted earlier start has created it.
    if (!response.ok && response.status !== 409)
      throw new Error(`${method} ${url} answered ${response.status}: ${text}`);
    return JSON.parse(text);
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

  const channels = '/api/v1/alerts/channels';
  const listOf = async (service: SettingsService, path: string) =>
    ((await send(service, 'GET', path)) as { items: Named[] }).items;
  const channel =
    (await listOf('notifier', channels)).find(({ name }) => name === SAMPLE_CHANNEL.name) ??
    ((await send('notifier', 'POST', channels, SAMPLE_CHANNEL)) as Named);
  const rules = '/api/v1/alerts/rules';
  const made = new Set((await listOf('alerts', rules)).map(({ name }) => name));
  const common = { scope_type: 'workspace', scope_id: owner.tenantId, channel_config_ids: [channel.id] };
  for (const rule of SAMPLE_RULES.filter(({ name }) => !made.has(name))) {
    await send('alerts', 'POST', rules, { ...rule, ...common });
  }
}
