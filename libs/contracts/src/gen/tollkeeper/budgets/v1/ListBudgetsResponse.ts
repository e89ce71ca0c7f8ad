// Original file: tollkeeper/budgets/v1/budgets.proto

import type { AgentBudget as _tollkeeper_budgets_v1_AgentBudget, AgentBudget__Output as _tollkeeper_budgets_v1_AgentBudget__Output } from '../../../tollkeeper/budgets/v1/AgentBudget.ts';
import type { PlanBudget as _tollkeeper_budgets_v1_PlanBudget, PlanBudget__Output as _tollkeeper_budgets_v1_PlanBudget__Output } from '../../../tollkeeper/budgets/v1/PlanBudget.ts';
import type { Long } from '@grpc/proto-loader';

export interface ListBudgetsResponse {
  /**
   * In USD micros, 0 to 9007199254740991. Not set while the workspace has no daily budget.
   */
  'dailyBudgetUsdMicros'?: (number | string | Long);
  /**
   * The agents that have a daily budget, ordered by `agent_id`. Of more than 10000, the first 10000 are answered.
   */
  'agents'?: (_tollkeeper_budgets_v1_AgentBudget)[];
  /**
   * All plans, active or not, ordered by `plan_key`. A workspace has about 500 at most.
   */
  'plans'?: (_tollkeeper_budgets_v1_PlanBudget)[];
  '_dailyBudgetUsdMicros'?: "dailyBudgetUsdMicros";
}

export interface ListBudgetsResponse__Output {
  /**
   * In USD micros, 0 to 9007199254740991. Not set while the workspace has no daily budget.
   */
  'dailyBudgetUsdMicros'?: (number);
  /**
   * The agents that have a daily budget, ordered by `agent_id`. Of more than 10000, the first 10000 are answered.
   */
  'agents': (_tollkeeper_budgets_v1_AgentBudget__Output)[];
  /**
   * All plans, active or not, ordered by `plan_key`. A workspace has about 500 at most.
   */
  'plans': (_tollkeeper_budgets_v1_PlanBudget__Output)[];
  '_dailyBudgetUsdMicros'?: "dailyBudgetUsdMicros";
}
