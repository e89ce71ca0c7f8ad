import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC_OPTIONS, isSpendSettled, peekEventType } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { BudgetSource } from '../domain/peers.ts';
import type { Submit } from '../domain/reservation.use-cases.ts';
import { withNewestBudgets } from '../domain/newest.budgets.ts';
import { post, type ReportedSpend } from '../domain/settle.ts';
import type { ThresholdReporter } from '../domain/threshold.reporter.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'enforcer';

export interface GatewayEventsDeps {
  group: ConsumerGroup;
  submit: Submit;
  budgets: BudgetSource;
  thresholds: Pick<ThresholdReporter, 'report'>;
  metrics: Metrics;
  clock: Clock;
}

interface Item extends ReportedSpend {
  tenantId: TenantId;
}

/**
 * Posts the spend in events, and reports the limits that it reaches. Posting a settlement again changes nothing, so it
 * needs no transaction with the offset. The offset moves after a whole batch is posted.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsDeps): LogConsumer {
  const { thresholds, clock } = deps;
  const eventsTotal = deps.metrics.counter({
    name: 'enforcer_spend_events_total',
    help: 'spend.settled events read from the log, by outcome',
    labelNames: ['outcome'],
  });

  async function postAll(tenantId: TenantId, spends: readonly Item[]): Promise<void> {
    const now = clock();
    const posted = await withNewestBudgets(deps.budgets, tenantId, (active) =>
      Promise.all(spends.map((spend) => deps.submit(tenantId, post(spend, now, active)))),
    );
    for (const { outcome } of posted) eventsTotal.inc({ outcome });
    const postings = posted.flatMap(({ posting }) => posting ?? []);
    await thresholds.report(tenantId, postings);
  }

  return deps.group.consumer({
    topic: GATEWAY_EVENTS_TOPIC_OPTIONS,
    decode({ value }): Item | undefined {
      const type = peekEventType(value);
      if (type !== null && type !== 'spend.settled') return undefined;
      const { tenantId, keyId = null, event } = decodeGatewayEvent(value);
      if (!isSpendSettled(event)) return undefined;
      const { settlement_id, reservation_id, request_id, agent_id, plan_key, amount_micros } = event.data;
      const { model = null, provider = null, labels = {} } = event.data;
      return {
        tenantId,
        settlementId: settlement_id,
        reservationId: reservation_id ?? null,
        requestId: request_id,
        ...{ agentId: agent_id, planKey: plan_key ?? null, model, provider, keyId, labels },
        micros: amount_micros,
        at: Date.parse(event.time),
      };
    },
    // Runs outside a transaction, since it waits for the ledger and for budgets.
    async applyAhead(items) {
      const byTenant = Map.groupBy(items, ({ tenantId }) => tenantId);
      await Promise.all([...byTenant].map(([tenantId, spends]) => postAll(tenantId, spends)));
    },
  });
}
