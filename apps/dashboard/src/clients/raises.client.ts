import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { RaisesGranted } from '../domain/statement.ts';

/** Reads the raises that were granted in a span from the budgets service. */
export function createRaisesGranted(
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'listGrantedRaises'>,
): RaisesGranted {
  return async (tenantId, { start, end }, max) => {
    const { raises, count, extraMicros } = await budgets.listGrantedRaises({ tenantId, from: start, until: end, max });
    return { largest: raises.map(({ value = null, ...raise }) => ({ ...raise, value })), count, micros: extraMicros };
  };
}
