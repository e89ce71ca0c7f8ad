import type { StandInBudget } from './budgets.stand-in.ts';

/** What a gateway says of a call. */
export interface FaultCall {
  agentId: string;
  planKey: string | null;
  model: string;
  provider: string;
  labels: { team: string; user: string };
}

/** A budget, with the value that a call counts for in it; null if it does not count. */
interface FaultBudget {
  budget: StandInBudget;
  valueOf: (call: FaultCall) => string | null;
}

export const AGENTS = ['planner', 'coder', 'reviewer'];
export const MODELS = ['large-1', 'large-2', 'small-1'];
export const PROVIDERS = ['acme', 'umbra'];
export const TEAMS = ['growth', 'sales', 'support'];
export const USERS = ['Ann', 'Bo', 'Cem', 'Zoë'];
/** The daily budgets. The third agent has none. */
export const DAILY = { workspace: 44_000, agent: 19_000, plan: 25_000, agents: AGENTS.slice(0, 2) };

const DAY_MS = 86_400_000;
const everyCall = () => '';
const calendar = (kind: string, startMonth = 1, startDay = 1) => ({ kind, startMonth, startDay });
const ofModels = (prefix: string) => (call: FaultCall) => (call.model.startsWith(prefix) ? '' : null);

/** Budgets, of which each call counts in eight that deny and in one that only warns. */
export function budgetsOfRun(startedAt: number): FaultBudget[] {
  const growth = { labels: { team: 'growth' } };
  // Longer than any run.
  const once = { kind: 'once', start: String(startedAt - DAY_MS), end: String(startedAt + DAY_MS) };
  return [
    { budget: { id: 'bud_month', period: calendar('month'), limitMicros: 28_000 }, valueOf: everyCall },
    {
      budget: { id: 'bud_agents', period: calendar('day'), each: 'agent', limitMicros: 18_000 },
      valueOf: ({ agentId }) => agentId,
    },
    {
      budget: { id: 'bud_large', period: calendar('week'), selector: { model: 'large-*' }, limitMicros: 28_000 },
      valueOf: ofModels('large-'),
    },
    {
      budget: { id: 'bud_small', period: calendar('year'), selector: { model: 'small-1' }, limitMicros: 16_000 },
      valueOf: ofModels('small-'),
    },
    {
      budget: {
        ...{ id: 'bud_teams', period: calendar('month', 1, 15), each: 'label:team' },
        ...{ limitMicros: 14_000, gracePercent: 20 },
      },
      valueOf: ({ labels: { team } }) => (team === 'growth' ? null : team),
    },
    {
      budget: {
        ...{ id: 'bud_growth', period: calendar('quarter', 2), selector: growth, overrides: 'bud_teams' },
        limitMicros: 16_000,
      },
      valueOf: ({ labels: { team } }) => (team === 'growth' ? '' : null),
    },
    {
      budget: { id: 'bud_users', period: calendar('day'), each: 'label:user', limitMicros: 13_000 },
      valueOf: ({ labels: { user } }) => user,
    },
    {
      budget: { id: 'bud_models', period: calendar('quarter'), each: 'model', limitMicros: 16_500 },
      valueOf: ({ model }) => model,
    },
    {
      budget: { id: 'bud_day_long', period: { kind: 'rolling', seconds: 86_400 }, limitMicros: 43_000 },
      valueOf: everyCall,
    },
    {
      budget: { id: 'bud_providers', period: calendar('year', 4), each: 'provider', limitMicros: 23_000 },
      valueOf: ({ provider }) => provider,
    },
    { budget: { id: 'bud_warn', period: once, denies: false, limitMicros: 1_000 }, valueOf: everyCall },
  ];
}

/** Made in the middle of the calls of a workspace, so it is filled with what was spent before. It never denies. */
const MADE_LATER: FaultBudget = {
  budget: {
    ...{ id: 'bud_later', period: calendar('month'), selector: { model: 'large-*' }, each: 'label:team' },
    limitMicros: 1_000_000_000,
  },
  valueOf: (call) => (ofModels('large-')(call) === null ? null : call.labels.team),
};
/** The limit of the budget of the month from then on. */
const RAISED = 45_000;

/** What becomes of the budgets in the middle of the calls of a workspace. */
export function changedBudgets(all: readonly FaultBudget[]): StandInBudget[] {
  const kept = all.map(({ budget }) => (budget.id === 'bud_month' ? { ...budget, limitMicros: RAISED } : budget));
  return [...kept, MADE_LATER.budget];
}

/** The name of a limit: its daily budget, or its budget and the value that it is for. */
export const nameOf = (row: { scope: string; scope_id: string; value?: string }): string =>
  row.scope === 'budget' ? `${row.scope_id} ${row.value ?? ''}` : `${row.scope} ${row.scope_id}`;

/** Whether the account has a limit: one of the agents has none. */
export const hasLimit = (name: string): boolean =>
  !AGENTS.some((id) => name === `agent ${id}` && !DAILY.agents.includes(id));

/** Whether the limit is of the budget that is made in the middle. */
export const isMadeLater = (name: string): boolean => name.startsWith(`${MADE_LATER.budget.id} `);

/** What the limit lets pass, by its budget and its current amount. Infinity if it only warns. */
export function grantableOf(all: readonly FaultBudget[], row: { scope_id: string; limit_micros: number }): number {
  const { denies = true, gracePercent = 0 } = all.find(({ budget }) => budget.id === row.scope_id)?.budget ?? {};
  return denies ? row.limit_micros + (row.limit_micros * gracePercent) / 100 : Infinity;
}

/** The names of all accounts in which a call counts, whether they have a limit or not. */
export function accountsOf(all: readonly FaultBudget[], tenantId: string, call: FaultCall): string[] {
  return [
    `workspace ${tenantId}`,
    `agent ${call.agentId}`,
    ...(call.planKey === null ? [] : [`plan ${call.planKey}`]),
    ...[...all, MADE_LATER].flatMap(({ budget, valueOf }) => {
      const value = valueOf(call);
      return value === null ? [] : [`${budget.id} ${value}`];
    }),
  ];
}
