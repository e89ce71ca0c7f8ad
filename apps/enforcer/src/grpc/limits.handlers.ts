import { limitsRequests, limitsService } from '@tollkeeper/contracts';
import { type GrpcService, grpcService } from '@tollkeeper/grpc';
import type { BudgetRisk, Limits } from '../domain/enforcement.ts';
import { toLimitMessage } from './limit.messages.ts';

/** The handlers of LimitsService: what our services ask. */
export function createLimitsHandlers({ limits }: { limits: Pick<Limits, 'byRisk'> }): GrpcService {
  return grpcService(limitsService, limitsRequests, {
    async listBudgetsByRisk({ tenantId, max }) {
      return { budgets: (await limits.byRisk(tenantId, max)).map(toRiskMessage) };
    },
  });
}

function toRiskMessage({ limit, isAtRisk }: BudgetRisk) {
  const { paceEndMicros } = limit;
  return { limit: toLimitMessage(limit), isAtRisk, ...(paceEndMicros !== null && { paceEndMicros }) };
}
