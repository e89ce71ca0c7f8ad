import { createEnforcer, enforcerConfig } from '@tollkeeper/enforcer';
import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { provenTenantId } from '@tollkeeper/kernel';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { AGENT_ID, AMOUNT_MICROS, PLAN_KEY, TTL_SECONDS } from './call.ts';
import type { Decider } from './decider.ts';

/** The service in the process of its callers, with its own journal, peers and log, and without transport. */
export async function createEngineDecider(of: { env: Record<string, string>; tenantId: string }): Promise<Decider> {
  const { env } = of;
  const tenantId = provenTenantId(of.tenantId);
  const deps = { logger: createLogger({ service: 'enforcer', level: 'warn' }), metrics: createMetrics('enforcer') };
  const eventLog = createConfiguredEventLog({
    config: { EVENT_LOG_MONGODB_URI: env['MONGODB_URI'] ?? '', EVENT_LOG_DATABASE: 'bench_engine_log' },
    ...deps,
  });
  await eventLog.start();
  const enforcer = createEnforcer({ config: loadConfig(enforcerConfig, env), eventLog, ...deps });
  await enforcer.start();
  const { reservations } = enforcer;

  return {
    async decide(requestId) {
      const call = { requestId, agentId: AGENT_ID, runId: 'run-bench', planKey: PLAN_KEY };
      const request = {
        ...call,
        amountMicros: AMOUNT_MICROS,
        ttlSeconds: TTL_SECONDS,
        model: null,
        provider: null,
        labels: {},
      };
      const decided = await reservations.reserve({ tenantId, keyId: null, labels: {} }, request);
      if (decided.decision === 'denied' || decided.reservation === null) throw new Error('The call was denied');
      return decided.reservation.id;
    },
    async settle(id) {
      await reservations.settle(tenantId, id, { settlementId: `s-${id}`, amountMicros: AMOUNT_MICROS });
    },
    release: async (id) => void (await reservations.release(tenantId, id)),
    async close() {
      await enforcer.stop();
      await eventLog.stop();
    },
  };
}
