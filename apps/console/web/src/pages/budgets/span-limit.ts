import type { Api } from '@tollkeeper/client';
import type { Unfinished } from '../../charts/unfinished.ts';

/** The spend of a chart: that of an agent, or of the whole workspace, from the start of a day or month on. */
export interface ChartedSpend {
  kind: Unfinished;
  start: string;
  agentId: string | undefined;
}

type Selecting = Pick<Api.Budget, 'id' | 'selector' | 'each'>;

/** The lowest limit that counts exactly this spend, in the same period. */
export function limitOf(
  spend: ChartedSpend,
  limits: readonly Api.Limit[],
  budgets: readonly Selecting[],
): Api.Limit | undefined {
  const byId = new Map(budgets.map((budget) => [budget.id, budget]));
  return limits
    .filter(({ period: { kind, start } }) => kind === spend.kind && Date.parse(start) === Date.parse(spend.start))
    .filter((limit) => COUNTS[limit.scope](limit, spend, byId.get(limit.budget_id)))
    .toSorted((a, b) => a.limit_micros - b.limit_micros)[0];
}

type Counts = (limit: Api.Limit, spend: ChartedSpend, budget: Selecting | undefined) => boolean;

const COUNTS: Record<Api.Limit['scope'], Counts> = {
  workspace: (_limit, { agentId }) => agentId === undefined,
  agent: ({ scope_id }, { agentId }) => scope_id === agentId,
  plan: () => false,
  budget: ({ value }, { agentId }, budget) => {
    if (budget === undefined) return false;
    const { agent, ...others } = budget.selector;
    if (Object.values(others).some((pattern) => typeof pattern === 'string' || Object.keys(pattern).length > 0)) {
      return false;
    }
    if (budget.each === null) return agent === agentId;
    return budget.each === 'agent' && value === agentId && agentId !== undefined;
  },
};
