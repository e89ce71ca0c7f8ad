import type { ActiveBudgets } from '../src/domain/active.budgets.ts';
import type { Ask } from '../src/domain/decision.ts';
import type { HistoryDashboard } from './history.dashboard.ts';
import type { HistoryLimits } from './history.limits.ts';
import type { Reference } from './reference.ts';

/** What gateways, events and pages ask of a ledger. */
export interface Step {
  what: string;
  ask: (known: ActiveBudgets) => Ask<unknown>;
  /** The answer of the reference. Call it after all earlier steps. */
  expected: () => unknown;
}

/** What the steps of a history share. */
export interface HistoryDeps {
  reference: Reference;
  dashboard: HistoryDashboard;
  limits: HistoryLimits;
  next: (below: number) => number;
}
