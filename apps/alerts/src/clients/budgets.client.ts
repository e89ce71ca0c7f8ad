import {
  type BudgetEach,
  type BudgetScope,
  type BudgetSelector,
  type BudgetsServiceDefinition,
  dailyBudgetId,
  exactValueOf,
  fromWirePeriod,
  type IdentityServiceDefinition,
} from '@tollkeeper/contracts';
import { type GrpcClient, isUnimplemented } from '@tollkeeper/grpc';
import { type BudgetPeriod, canonicalTimezone } from '@tollkeeper/kernel';
import type { BudgetReader, BudgetTerms } from '../domain/budget.terms.ts';

interface BudgetsClients {
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'listBudgets' | 'listActiveBudgets'>;
  identity: Pick<GrpcClient<IdentityServiceDefinition>, 'getWorkspace'>;
}

/** Reads budgets and the time zone of the workspace at the same time, within `deadlineMs`. */
export function createBudgetReader({ budgets, identity }: BudgetsClients, deadlineMs: number): BudgetReader {
  const within = { deadlineMs };
  return async (tenantId) => {
    const [daily, active, { workspace }] = await Promise.all([
      budgets.listBudgets({ tenantId }, within),
      budgets.listActiveBudgets({ tenantId }, within).catch((error: unknown) => {
        // Release 0.1.0 of budgets has daily budgets only.
        if (isUnimplemented(error)) return { budgets: [] };
        throw error;
      }),
      identity.getWorkspace({ tenantId }, within),
    ]);
    const timezone = canonicalTimezone(workspace?.timezone ?? '') ?? 'UTC';
    const dailyOf = (scope: BudgetScope, key: string, limitMicros: number): BudgetTerms => ({
      ...{ id: dailyBudgetId(scope, key), name: DAILY_NAMES[scope](key), limitMicros, period: DAY, timezone },
      ...{ selector: SELECTORS[scope](key), each: null, excluded: [] },
    });
    const all = [
      ...(daily.dailyBudgetUsdMicros === undefined ? [] : [dailyOf('workspace', '', daily.dailyBudgetUsdMicros)]),
      ...daily.agents.map(({ agentId, dailyBudgetUsdMicros }) => dailyOf('agent', agentId, dailyBudgetUsdMicros)),
      ...daily.plans
        .filter(({ isActive }) => isActive)
        .map(({ planKey, dailyBudgetUsdMicros }) => dailyOf('plan', planKey, dailyBudgetUsdMicros)),
      ...active.budgets.flatMap((message) => toTerms(message, timezone, active.budgets)),
    ];
    return new Map(all.map((terms) => [terms.id, terms]));
  };
}

const DAY: BudgetPeriod = { kind: 'day', startMonth: 1, startDay: 1 };

const SELECTORS: Record<BudgetScope, (key: string) => BudgetTerms['selector']> = {
  workspace: () => ({}),
  agent: (agent) => ({ agent }),
  plan: (plan) => ({ plan }),
};

const DAILY_NAMES: Record<BudgetScope, (key: string) => string> = {
  workspace: () => 'Daily budget of the workspace',
  agent: (agentId) => `Daily budget of agent ${agentId}`,
  plan: (planKey) => `Daily budget of plan ${planKey}`,
};

type Message = Awaited<ReturnType<BudgetsClients['budgets']['listActiveBudgets']>>['budgets'][number];

/** A budget with a period of a newer version of budgets is left out: this version cannot tell when it ends. */
function toTerms(message: Message, timezone: string, all: readonly Message[]): BudgetTerms[] {
  const { id, name, limitMicros } = message;
  const patterns = Object.entries(message.selector ?? {}).filter(([, pattern]) => pattern !== undefined);
  const selector: BudgetSelector = Object.fromEntries(patterns);
  const period = message.period && fromWirePeriod(message.period);
  if (period === undefined || period === null) return [];
  const each = (message.each as BudgetEach | undefined) ?? null;
  const instead = each === null ? [] : all.filter(({ overrides }) => overrides === id);
  const excluded = instead.flatMap((other) => exactValueOf(other.selector ?? {}, each!) ?? []);
  return [{ id, name, limitMicros, period, timezone, selector, each, excluded }];
}
