import type { Fleet } from '@tollkeeper/fleet';
import { AGENT_ID, type BudgetsOfCall, DAILY_BUDGET_MICROS, PLAN_KEY } from './deciders/call.ts';

export interface BudgetedWorkspace {
  tenantId: string;
  /** A key with role `developer`. */
  apiKey: string;
}

/** A request of the fleet's owner. Rejects if it is refused. */
type Send = (method: 'POST' | 'PUT', path: string, body: object) => Promise<Response>;

/** Logs in as the owner of the fleet. */
export async function logIn({ baseUrl, owner }: Pick<Fleet, 'baseUrl' | 'owner'>): Promise<Send> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const send: Send = async (method, path, body) => {
    const answer = await fetch(`${baseUrl}${path}`, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const [cookie = ''] = (await send('POST', '/api/v1/auth/login', owner)).headers.getSetCookie();
  headers['cookie'] = cookie.split(';', 1)[0] ?? '';
  return send;
}

/** Creates workspaces with the three limits that apply to the benchmark's call, through the fleet's API. */
export async function makeBudgetedWorkspaces(send: Send, count: number): Promise<BudgetedWorkspace[]> {
  const made: BudgetedWorkspace[] = [];
  while (made.length < count) made.push(await makeBudgetedWorkspace(send, `bench-${made.length}`));
  return made;
}

async function makeBudgetedWorkspace(send: Send, slug: string): Promise<BudgetedWorkspace> {
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
  return { tenantId: id, apiKey };
}

const PERIODS = ['hour', 'week', 'month', 'quarter', 'year'];

/** Creates a workspace with five further budgets for each of its teams, of different periods. */
export async function makeTeamBudgets(
  send: Send,
  slug: string,
  each: string | null,
  { teams }: BudgetsOfCall,
): Promise<BudgetedWorkspace> {
  const workspace = await makeBudgetedWorkspace(send, slug);
  for (let team = 0; team < teams; team += 1) {
    for (const kind of PERIODS) {
      await send('POST', `/w/${slug}/api/v1/budgets`, {
        ...{ name: `${kind} of team-${team}`, selector: { labels: { team: `team-${team}` } } },
        ...{ each, period: { kind }, limit_micros: DAILY_BUDGET_MICROS },
      });
    }
  }
  return workspace;
}
