import { budgetsRequests, budgetsService, type Cause } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { Clock } from '@tollkeeper/kernel';
import { type Budget, type BudgetStore, toldAt } from '../domain/budget.ts';
import { type DailyBudget, type DailyBudgetStore, isSet, type SetAgentBudget } from '../domain/daily-budget.ts';
import type { Pause } from '../domain/pause.ts';
import type { PauseUseCases } from '../domain/pause.use-cases.ts';
import type { Plan, PlanStore } from '../domain/plan.ts';
import { type Asker, type Raise, stateOf } from '../domain/raise.ts';
import type { RaiseUseCases } from '../domain/raise.use-cases.ts';
import type { OwnPrice, PriceStore } from '../prices/price.ts';

/** Keeps an answer well below the 4 MiB of a gRPC message. */
const MAX_LISTED_AGENTS = 10_000;
const PRICE_PAGE = 500;

export interface BudgetsHandlersDeps {
  budgets: BudgetStore;
  daily: DailyBudgetStore;
  plans: PlanStore;
  prices: PriceStore;
  pauses: Pick<PauseUseCases, 'list'>;
  raises: Pick<RaiseUseCases, 'inForce' | 'grantedIn' | 'request'>;
  clock: Clock;
}

/** The handlers of budgets.proto. */
export function createBudgetsHandlers(deps: BudgetsHandlersDeps): GrpcService {
  const { budgets, daily, plans, prices, pauses, raises, clock } = deps;
  return grpcService(budgetsService, budgetsRequests, {
    async getBudgets({ tenantId, agentIds, planKeys }) {
      const [ofWorkspace, ofAgents, ofPlans] = await Promise.all([
        daily.ofWorkspace(tenantId),
        agentIds.length === 0 ? [] : daily.ofAgents(tenantId, agentIds).then((found) => found.filter(isSet)),
        planKeys.length === 0 ? [] : plans.find(tenantId, planKeys),
      ]);
      return toAnswer(ofWorkspace, ofAgents, ofPlans);
    },

    async listBudgets({ tenantId }) {
      const [ofWorkspace, ofAgents, ofPlans] = await Promise.all([
        daily.ofWorkspace(tenantId),
        daily.listSetAgents(tenantId, MAX_LISTED_AGENTS),
        plans.list(tenantId),
      ]);
      return toAnswer(ofWorkspace, ofAgents, ofPlans);
    },

    async listActiveBudgets({ tenantId }) {
      const [all, paused, raised] = await Promise.all([
        budgets.list(tenantId),
        pauses.list(tenantId),
        raises.inForce(tenantId),
      ]);
      const active = all.filter(({ isActive }) => isActive);
      return {
        budgets: active.map(toBudgetMessage),
        pauses: paused.map(toPauseMessage),
        raises: raised.map(toRaiseMessage),
      };
    },

    async requestRaise({ tenantId, keyId, value, until, ...draft }) {
      const asker: Asker = { type: 'key', id: keyId, name: `Workspace key ${keyId}` };
      const asked = { ...draft, value: value ?? null, until: new Date(until) };
      const raise = await raises.request(tenantId, asked, asker, causeOf(asker));
      const state = stateOf(raise, new Date(clock()));
      return { raiseId: raise.id, state, extraMicros: raise.extraMicros, until: raise.until.getTime() };
    },

    async listGrantedRaises({ tenantId, from, until, max }) {
      const { largest, count, micros } = await raises.grantedIn(tenantId, { start: from, end: until }, max);
      return { raises: largest.map(toGrantedMessage), count, extraMicros: micros };
    },

    async listPrices({ tenantId, after }) {
      const found = await prices.list(tenantId, { after, limit: PRICE_PAGE + 1 });
      const page = found.slice(0, PRICE_PAGE);
      const last = found.length > PRICE_PAGE ? page.at(-1) : undefined;
      return { prices: page.map(toPriceMessage), ...(last !== undefined && { nextAfter: last.number }) };
    },
  });
}

function toAnswer(daily: DailyBudget, agents: SetAgentBudget[], plans: Plan[]) {
  return {
    ...(daily !== null && { dailyBudgetUsdMicros: daily }),
    agents: agents.map(({ agentId, dailyBudgetMicros }) => ({ agentId, dailyBudgetUsdMicros: dailyBudgetMicros })),
    plans: plans.map(({ key, dailyBudgetMicros, isActive }) => ({
      planKey: key,
      dailyBudgetUsdMicros: dailyBudgetMicros,
      isActive,
    })),
  };
}

function toBudgetMessage(budget: Budget) {
  const { id, generation, name, selector, each, limitMicros, action, gracePercent, overrides } = budget;
  return {
    ...{ id, generation, name, selector, limitMicros, gracePercent },
    ...(each !== null && { each }),
    ...(overrides !== null && { overrides }),
    period: budget.period,
    denies: action === 'deny',
    tellAt: [...toldAt(budget)],
  };
}

function toPauseMessage({ id, scope, value, reason, pausedBy, createdAt, until }: Pause) {
  const times = { createdAt: createdAt.getTime(), until: until.getTime() };
  return { id, scope, value, reason, pausedBy: pausedBy.name, ...times };
}

function toRaiseMessage({ budgetId, value, extraMicros, until }: Raise) {
  return { budgetId, ...(value !== null && { value }), extraMicros, until: until.getTime() };
}

function toGrantedMessage(raise: Raise) {
  const { id, budgetId, budgetName, value, extraMicros, askedBy, decidedBy, decidedAt, until, endedAt } = raise;
  return {
    ...{ raiseId: id, budgetId, budgetName, ...(value !== null && { value }), extraMicros },
    ...{ askedBy: askedBy.name, grantedBy: decidedBy?.name ?? '', grantedAt: decidedAt?.getTime() ?? 0 },
    until: (endedAt ?? until).getTime(),
  };
}

/** The client of a gateway is not the one that asks, so its address says nothing. */
function causeOf(actor: Asker): Cause {
  return { action: 'raise.request', actor, address: null, userAgent: null, requestId: null };
}

function toPriceMessage({ id, provider, model, validFrom, microsPerMillion }: OwnPrice) {
  const {
    cache_read: cacheRead,
    cache_write: cacheWrite,
    cache_write_1h: cacheWriteHour,
    ...others
  } = microsPerMillion;
  return {
    ...{ id, model, validFrom: validFrom.getTime() },
    ...(provider !== null && { provider }),
    ...others,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(cacheWriteHour !== undefined && { cacheWriteHour }),
  };
}
