import type { Fleet } from '@tollkeeper/fleet';
import { AGENT_ID, DAILY_BUDGET_MICROS, PLAN_KEY } from './deciders/call.ts';

export interface BudgetedWorkspace {
  tenantId: string;
  /** A key with role `developer`. */
  apiKey: string;
}

/** Creates workspaces with the three limits that apply to the benchmark's call, through the fleet's API. */
export async function makeBudgetedWorkspaces(
  { baseUrl, owner }: Pick<Fleet, 'baseUrl' | 'owner'>,
  count: number,
): Promise<BudgetedWorkspace[]> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const send = async (method: 'POST' | 'PUT', path: string, body: object): Promise<Response> => {
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const [cookie = ''] = (await send('POST', '/api/v1/auth/login', owner)).headers.getSetCookie();
  headers['cookie'] = cookie.split(';', 1)[0] ?? '';

  const made: BudgetedWorkspace[] = [];
  for (let index = 0; index < count; index += 1) {
    const slug = `bench-${index}`;
    const { id } = (await (await send('POST', '/api/v1/workspaces', { slug, name: slug })).json()) as { id: string };
    const api = `/w/${slug}/api/v1`;
    const budgets = `${api}/workspaces/${id}/budgets`;
    const budget = { daily_budget_usd_micros: DAILY_BUDGET_MICROS };
    await send('POST', `${api}/agents`, { agent_id: AGENT_ID, display_name: 'Bench' });
    await send('PUT', `${budgets}/workspace`, budget);
    await send('PUT', `${budgets}/agents/${AGENT_ID}`, budget);
    await send('POST', `${budgets}/plans`, { plan_key: PLAN_KEY, display_name: 'Pro', description: '', ...budget });
    const key = await send('POST', `${api}/management/workspace-keys`, { name: 'Bench', role: 'developer' });
    const { api_key: apiKey } = (await key.json()) as { api_key: string };
    made.push({ tenantId: id, apiKey });
  }
  return made;
}
