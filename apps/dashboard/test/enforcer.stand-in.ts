import { limitsRequests, limitsService, type LimitsServiceDefinition } from '@tollkeeper/contracts';
import { grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { createPeers } from '@tollkeeper/testing';

type Handlers = UnaryHandlers<LimitsServiceDefinition>;
type Risks = NonNullable<Awaited<ReturnType<Handlers['listBudgetsByRisk']>>['budgets']>;

/** A stand-in for the enforcer that answers budgets from a table. */
export function createEnforcerStandIn(logger: Logger) {
  const workspaces = new Map<string, Risks>();
  const asked: { tenantId: string; max: number }[] = [];
  const state = { hold: undefined as Promise<void> | undefined };
  const handlers: Handlers = {
    async listBudgetsByRisk({ tenantId, max }) {
      asked.push({ tenantId, max });
      await state.hold;
      return { budgets: workspaces.get(tenantId) ?? [] };
    },
  };
  return Object.assign(createPeers(logger, [grpcService(limitsService, limitsRequests, handlers)]), {
    /** The calls that it received. */
    asked,
    /** `hold` delays its answers. */
    state,
    set: (tenantId: TenantId, budgets: Risks) => workspaces.set(tenantId, budgets),
  });
}
