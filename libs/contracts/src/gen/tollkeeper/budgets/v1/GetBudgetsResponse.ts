// Original file: tollkeeper/budgets/v1/budgets.proto

import type { AgentBudget as _tollkeeper_budgets_v1_AgentBudget, AgentBudget__Output as _tollkeeper_budgets_v1_AgentBudget__Output } from '../../../tollkeeper/budgets/v1/AgentBudget.ts';
import type { PlanBudget as _tollkeeper_budgets_v1_PlanBudget, PlanBudget__Output as _tollkeeper_budgets_v1_PlanBudget__Output } from '../../../tollkeeper/budgets/v1/PlanBudget.ts';
import type { Long } from '@grpc/proto-loader';

export interface GetBudgetsResponse {
  /**
   * In USD micros, 0 to 9007199254740991. Not set while the workspace has no daily budget.
   */
  'dailyBudgetUsdMicros'?: (number | string | Long);
  /**
   * Those of the agents asked for that have a daily budget, ordered by `agent_id`.
   */
  'agents'?: (_tollkeeper_budgets_v1_AgentBudget)[];
  /**
   * Those of the plans asked for that the workspace has, ordered by `plan_key`.
   */
  'plans'?: (_tollkeeper_budgets_v1_PlanBudget)[];
  '_dailyBudgetUsdMicros'?: "dailyBudgetUsdMicros";
}

export interface GetBudgetsResponse__Output {
  /**
   * In USD micros, 0 to 9007199254740991. Not set while the workspace has no daily budget.
   */
  'dailyBudgetUsdMicros'?: (number);
  /**
   * Those of the agents asked for that have a daily budget, ordered by `agent_id`.
   */
  'agents': (_tollkeeper_budgets_v1_AgentBudget__Output)[];
  /**
   * Those of the plans asked for that the workspace has, ordered by `plan_key`.
   */
  'plans': (_tollkeeper_budgets_v1_PlanBudget__Output)[];
  '_dailyBudgetUsdMicros'?: "dailyBudgetUsdMicros";
}
