import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { type GrpcClient, isUnimplemented } from '@tollkeeper/grpc';
import { AppError } from '@tollkeeper/kernel';
import type { RaisesGranted } from '../domain/statement.ts';

/** Reads the raises that were granted in a span from the budgets service. */
export function createRaisesGranted(
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'listGrantedRaises'>,
): RaisesGranted {
  return async (tenantId, { start, end }, max) => {
    const asked = { tenantId, from: start, until: end, max };
    const { raises, count, extraMicros } = await budgets.listGrantedRaises(asked).catch((error: unknown) => {
      if (!isUnimplemented(error)) throw error;
      const message = 'Raises cannot be read before the budgets service is updated. Try again after the update.';
      throw new AppError('service_unavailable', message, { cause: error });
    });
    return { largest: raises.map(({ value = null, ...raise }) => ({ ...raise, value })), count, micros: extraMicros };
  };
}
