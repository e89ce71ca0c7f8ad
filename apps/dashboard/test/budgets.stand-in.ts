import { budgetsService, type BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { createGrpcServer, type GrpcServer, grpcService, type UnaryHandlers } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import { createMetrics, type Logger } from '@tollkeeper/runtime';

/** What the service and its peers share. */
export const CALLER_TOKEN_SECRET = 'a-caller-token-secret-of-enough-bytes';

/**
 * Serves the contract of budgets.proto over real gRPC, from a table. A service may not import another one; e2e runs
 * this service with the real budgets.
 */
export function createBudgetsStandIn(logger: Logger) {
  const workspaces = new Map<string, number>();
  const agents = new Map<string, number>();
  let server: GrpcServer | undefined;
  let port = 0;
  let calls = 0;

  const handlers: UnaryHandlers<BudgetsServiceDefinition> = {
    async getBudgets({ tenantId, agentIds }) {
      calls += 1;
      const daily = workspaces.get(tenantId);
      return {
        ...(daily !== undefined && { dailyBudgetUsdMicros: daily }),
        agents: agentIds.flatMap((agentId) => {
          const ofAgent = agents.get(`${tenantId}/${agentId}`);
          return ofAgent === undefined ? [] : [{ agentId, dailyBudgetUsdMicros: ofAgent }];
        }),
      };
    },
  };

  return {
    get address() {
      return `127.0.0.1:${port}`;
    },
    /** How often GetBudgets was called. */
    calls: () => calls,
    /** Starts where it was before, if it was. */
    async start() {
      const services = [grpcService(budgetsService, handlers)];
      server = createGrpcServer({
        host: '127.0.0.1',
        port,
        services,
        callerTokenSecret: CALLER_TOKEN_SECRET,
        logger,
        metrics: createMetrics('budgets'),
      });
      await server.start();
      port = Number(server.address.split(':')[1]);
    },
    async stop() {
      await server?.stop();
    },
    setWorkspace: (tenantId: TenantId, micros: number) => workspaces.set(tenantId, micros),
    setAgent: (tenantId: TenantId, agentId: string, micros: number) => agents.set(`${tenantId}/${agentId}`, micros),
  };
}
