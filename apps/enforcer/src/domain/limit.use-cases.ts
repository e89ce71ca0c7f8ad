import type { Clock } from '@tollkeeper/kernel';
import { ANSWER_MS, within } from './answer.time.ts';
import type { Limits } from './enforcement.ts';
import { viewLimits } from './limit.view.ts';
import type { LimitSource } from './peers.ts';
import { type GrantReader, listReservations } from './reservation.list.ts';
import type { Submit } from './reservation.use-cases.ts';

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
          agentIds: agentId === undefined ? [] : [agentId],
          planKeys: planKey === undefined ? [] : [planKey],
        };
        const set = await (isAll ? deps.limits.all(tenantId) : deps.limits.of(tenantId, chosen));
        return deps.submit(tenantId, viewLimits(set));
      };
      return within(ANSWER_MS, work());
    },
    list: (tenantId, filter, page) => within(ANSWER_MS, listReservations(deps, tenantId, filter, page)),
  };
}
