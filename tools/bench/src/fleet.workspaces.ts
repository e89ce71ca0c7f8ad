import type { Fleet } from '@tollkeeper/fleet';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { type RuleSettings, toRuleBody } from './rule.settings.ts';

/** Creates workspaces with the same rules through the fleet's API, as their owner would. */
export async function makeWorkspaces(
  { baseUrl, owner }: Fleet,
  workspaces: number,
  rules: readonly RuleSettings[],
): Promise<TenantId[]> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const post = async (path: string, body: object): Promise<Response> => {
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const [cookie = ''] = (await post('/api/v1/auth/login', owner)).headers.getSetCookie();
  headers['cookie'] = cookie.split(';', 1)[0] ?? '';

  const tenantIds: TenantId[] = [];
  for (let index = 0; index < workspaces; index += 1) {
    const slug = `bench-${index}`;
    const { id } = (await (await post('/api/v1/workspaces', { slug, name: slug })).json()) as { id: string };
    for (const rule of rules) await post(`/w/${slug}/api/v1/alerts/rules`, toRuleBody(id, rule));
    tenantIds.push(provenTenantId(id));
  }
  return tenantIds;
}
