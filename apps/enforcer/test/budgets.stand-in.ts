import {
  type BudgetMessage,
  budgetsRequests,
  budgetsService,
  type BudgetsServiceDefinition,
  type PauseMessage,
  type PriceMessage,
  type RaiseMessage,
} from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing/peers';

interface StandInPlan {
  limitMicros: number;
  isActive: boolean;
}

/** The budgets of a workspace. */
interface StandInBudgets {
  daily: number | null;
  agents: Map<string, number>;
  plans: Map<string, StandInPlan>;
  budgets: StandInBudget[];
  prices: PriceMessage[];
  pauses: PauseMessage[];
  raises: RaiseMessage[];
}

/** An active budget. */
export type StandInBudget = BudgetMessage & Required<Pick<BudgetMessage, 'id' | 'period' | 'limitMicros'>>;

const COMMON = { generation: 1, selector: {}, denies: true, gracePercent: 0, tellAt: [50, 80, 100] };

/** A question as it was received. */
interface AskedBudgets {
  tenantId: string;
  agentIds: string[];
  planKeys: string[];
}

/** A stand-in for budgets that answers from a table. */
export function createBudgetsStandIn(logger: Logger) {
  const workspaces = new Map<string, StandInBudgets>();
  const asked: AskedBudgets[] = [];
  const raisesAsked: { tenantId: string; keyId: string; requestId: string }[] = [];
  const state = { down: false, hold: undefined as Promise<void> | undefined };
  let inFlight = 0;
  let mostInFlight = 0;

  function of(tenantId: string): StandInBudgets {
    const present = workspaces.get(tenantId);
    if (present !== undefined) return present;
    const made: StandInBudgets = {
      ...{ daily: null, agents: new Map(), plans: new Map() },
      ...{ budgets: [], prices: [], pauses: [], raises: [] },
    };
    workspaces.set(tenantId, made);
    return made;
  }

  function answer(tenantId: string, isAsked: { agent(id: string): boolean; plan(key: string): boolean }) {
    const { daily, agents, plans } = of(tenantId);
    const byId = <T>(table: Map<string, T>) => [...table].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      ...(daily !== null && { dailyBudgetUsdMicros: daily }),
      agents: byId(agents)
        .filter(([agentId]) => isAsked.agent(agentId))
        .map(([agentId, micros]) => ({ agentId, dailyBudgetUsdMicros: micros })),
      plans: byId(plans)
        .filter(([planKey]) => isAsked.plan(planKey))
        .map(([planKey, plan]) => ({
          planKey,
          dailyBudgetUsdMicros: plan.limitMicros,
          isActive: plan.isActive,
        })),
    };
  }

  const handlers: UnaryHandlers<BudgetsServiceDefinition> = {
    async getBudgets({ tenantId, agentIds, planKeys }) {
      asked.push({ tenantId, agentIds, planKeys });
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      try {
        if (state.down) throw new AppError('internal', 'The budgets service failed.');
        const result = answer(tenantId, {
          agent: (id) => agentIds.includes(id),
          plan: (key) => planKeys.includes(key),
        });
        await state.hold;
        return result;
      } finally {
        inFlight -= 1;
      }
    },
    async listBudgets({ tenantId }) {
      if (state.down) throw new AppError('internal', 'The budgets service failed.');
      return answer(tenantId, { agent: () => true, plan: () => true });
    },
    async listActiveBudgets({ tenantId }) {
      if (state.down) throw new AppError('internal', 'The budgets service failed.');
      await state.hold;
      const { budgets, pauses, raises } = of(tenantId);
      return { budgets: budgets.map(({ id, ...budget }) => ({ ...COMMON, name: id, ...budget, id })), pauses, raises };
    },
    listGrantedRaises: async () => ({}),
    async requestRaise({ tenantId, keyId, requestId, extraMicros, until }) {
      if (state.down) throw new AppError('internal', 'The budgets service failed.');
      raisesAsked.push({ tenantId, keyId, requestId });
      return { raiseId: 'rai_1', state: 'requested', extraMicros, until };
    },
    async listPrices({ tenantId }) {
      if (state.down) throw new AppError('internal', 'The budgets service failed.');
      return { prices: of(tenantId).prices };
    },
  };

  return Object.assign(createPeers(logger, [grpcService(budgetsService, budgetsRequests, handlers)]), {
    /** With `down`, every RPC fails; GetBudgets answers only after `hold`. */
    state,
    /** The received GetBudgets requests, oldest first. */
    asked,
    /** The requests for raises that were received, oldest first. */
    raisesAsked,
    /** The maximum number of concurrent GetBudgets requests. */
    mostInFlight: () => mostInFlight,
    /** Null removes the budget. */
    setWorkspace(tenantId: TenantId, micros: number | null) {
      of(tenantId).daily = micros;
    },
    setAgent(tenantId: TenantId, agentId: string, micros: number | null) {
      if (micros === null) of(tenantId).agents.delete(agentId);
      else of(tenantId).agents.set(agentId, micros);
    },
    setPlan(tenantId: TenantId, planKey: string, micros: number, isActive = true) {
      of(tenantId).plans.set(planKey, { limitMicros: micros, isActive });
    },
    setBudgets(tenantId: TenantId, ...budgets: StandInBudget[]) {
      of(tenantId).budgets = budgets;
    },
    setPauses(tenantId: TenantId, ...pauses: PauseMessage[]) {
      of(tenantId).pauses = pauses;
    },
    setRaises(tenantId: TenantId, ...raises: RaiseMessage[]) {
      of(tenantId).raises = raises;
    },
    setPrices(tenantId: TenantId, ...prices: PriceMessage[]) {
      of(tenantId).prices = prices;
    },
    deletePlan: (tenantId: TenantId, planKey: string) => of(tenantId).plans.delete(planKey),
  });
}
