import type { TenantId } from '@tollkeeper/kernel';
import type { BurnFacts, DeviationFacts, ForecastFacts } from './condition.ts';
import type { Outcome, Reason } from './evaluator.ts';
import type { RuleCondition } from './rule-kinds.ts';

/** A decision of a rule, as people see it. Times are epoch milliseconds. */
export interface Evaluation {
  /** See `DecisionPlace`. */
  number: number;
  count: number;
  outcome: Outcome;
  reason: Reason;
  /** The alert that the decision made; null if it was suppressed. */
  alertId: string | null;
  eventId: string;
  eventTime: number;
  windowStart: number;
  windowEnd: number;
  condition: RuleCondition;
  eventCount: number;
  /** Null if the condition is not about spend. */
  settledMicros: number | null;
  /** Only of `deviation_gte`. */
  deviation?: DeviationFacts;
  /** Only of `burn_rate_gte`. */
  burn?: BurnFacts;
  /** Only of `forecast_gte`. */
  forecast?: ForecastFacts;
  cooldownUntil: number | null;
  /** Clock time of the decision. */
  evaluatedAt: number;
}

/** Number of decisions kept per rule, the newest. */
export const MAX_EVALUATIONS = 100;

export interface EvaluationStore {
  /** Newest first. */
  list(tenantId: TenantId, ruleId: string): Promise<Evaluation[]>;
}
