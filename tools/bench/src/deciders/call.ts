/** The call that all deciders decide about: three limits apply to it, and none of them ever blocks. */
export const AGENT_ID = 'agent-bench';
export const PLAN_KEY = 'pro';
export const AMOUNT_MICROS = 100;
export const DAILY_BUDGET_MICROS = 9_000_000_000_000;
/** Longer than a round and its clean-up: reservations end because they are settled or released. */
export const TTL_SECONDS = 600;
export const ACCOUNTS = ['workspace', 'agent', 'plan'] as const;

/** How many budgets apply to the call, and among how many teams and users its labels change. */
export interface BudgetsOfCall {
  limits: number;
  teams: number;
  users: number;
}

/** The three daily budgets, and no labels. */
export const DAILY_BUDGETS: BudgetsOfCall = { limits: 3, teams: 0, users: 0 };

/** The labels of one call after another. */
export function labelsOf({ teams, users }: BudgetsOfCall, decision: number): Record<string, string> {
  if (teams === 0) return {};
  // A prime, so that users come in another order than their numbers.
  return { team: `team-${decision % teams}`, user: `user-${(decision * 7_919) % users}` };
}
