import { type ApiClient, anonymous } from './api.client.ts';
import { budgetBlocked } from './events.ts';
import type { Target } from './target.ts';
import { EVENTS_PATH, type TestWorkspace } from './workspace.ts';

export const SIGNING_SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`;

/** Creates a rule that fires with the first blocked call, and its webhook. */
export async function watchBlocked(owner: ApiClient, workspace: TestWorkspace, url: string): Promise<void> {
  const channel = { channel_type: 'webhook', config: { url, signing_secret: SIGNING_SECRET } };
  const channels = workspace.path('/alerts/channels');
  const { id } = await owner.expect<{ id: string }>({ method: 'POST', path: channels, body: channel, status: 201 });
  const rule = {
    name: 'Blocked',
    severity: 'high',
    scope_type: 'workspace',
    scope_id: workspace.id,
    rule_kind: 'event_count_gte',
    rule_config: { window_seconds: 600, threshold: 1, filters: { event_types: ['budget.blocked'] } },
    channel_config_ids: [id],
  };
  await owner.expect({ method: 'POST', path: workspace.path('/alerts/rules'), body: rule, status: 201 });
}

/** Reports a blocked call. */
export function postBlocked(target: Target, apiKey: string, headers: Record<string, string> = {}) {
  const authorization = `Bearer ${apiKey}`;
  return anonymous(target).call({
    method: 'POST',
    path: EVENTS_PATH,
    body: JSON.stringify(budgetBlocked('run-1')),
    headers: { 'content-type': 'application/cloudevents+json', authorization, ...headers },
  });
}
