import type { Clock, TenantId } from '@tollkeeper/kernel';
import { ANSWER_MS, within } from './answer.time.ts';
import type { Limits, LimitsView } from './enforcement.ts';
import type { Limit } from './limit.ts';
import { viewLimits } from './limit.view.ts';
import type { LimitSource } from './peers.ts';
import { type GrantReader, listReservations } from './reservation.list.ts';
import type { Submit } from './reservation.use-cases.ts';

/** Maximum number of limits in one request. */
const LIMITS_AT_ONCE = 1_000;

export interface LimitDeps {
  submit: Submit;
  limits: LimitSource;
  grants: GrantReader;
  clock: Clock;
}

export function createLimits(deps: LimitDeps): Limits {
  return {
    view(tenantId, { agentId, planKey }) {
      const work = async () => {
        const isAll = agentId === undefined && planKey === undefined;
        const chosen = {
          agent: agentId === undefined ? [] : [agentId],
          plan: planKey === undefined ? [] : [planKey],
        };
        const set = await (isAll ? deps.limits.all(tenantId) : deps.limits.of(tenantId, chosen));
        return viewInParts(deps.submit, tenantId, set);
      };
      return within(ANSWER_MS, work());
    },
    list: (tenantId, filter, page) => within(ANSWER_MS, listReservations(deps, tenantId, filter, page)),
  };
}

/**
 * Splits the limits into several requests, as one is decided without a pause. They are submitted at once, so they see
 * the same ledger unless very many requests wait. If midnight falls between them, they are repeated.
 */
async function viewInParts(submit: Submit, tenantId: TenantId, limits: readonly Limit[]): Promise<LimitsView> {
  const parts: Limit[][] = [[]];
  for (const limit of limits) {
    if (parts.at(-1)!.length === LIMITS_AT_ONCE) parts.push([]);
    parts.at(-1)!.push(limit);
  }
  for (;;) {
    const views = await Promise.all(parts.map((part) => submit(tenantId, viewLimits(part))));
    const { day } = views[0]!;
    if (views.every((view) => view.day.start === day.start)) return { day, items: views.flatMap(({ items }) => items) };
  }
}
