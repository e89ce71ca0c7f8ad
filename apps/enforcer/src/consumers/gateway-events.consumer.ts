import { decodeGatewayEvent, GATEWAY_EVENTS_TOPIC_OPTIONS, isSpendSettled, peekEventType } from '@tollkeeper/contracts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import { thresholdReached } from '../domain/enforcement.events.ts';
import type { LimitSource } from '../domain/peers.ts';
import type { AppendEvents, Submit } from '../domain/reservation.use-cases.ts';
import { post, type PostOutcome, type ReportedSpend } from '../domain/settle.ts';
import { findReached, tell } from '../domain/threshold.ts';

/** The consumer group of the replicas. Offsets are stored under this name. */
export const CONSUMER_GROUP = 'enforcer';

export interface GatewayEventsDeps {
  group: ConsumerGroup;
  submit: Submit;
  append: AppendEvents;
  limits: LimitSource;
  metrics: Metrics;
  clock: Clock;
  logger: Logger;
}

interface Item extends ReportedSpend {
  tenantId: TenantId;
}

/**
 * Posts the spend that events tell of, and tells of the limits that it reaches. Posting a settlement again changes
 * nothing, so it needs no transaction with the offset: the offset follows when all of a batch is posted.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsDeps): LogConsumer {
  const { submit, append, limits, clock, logger } = deps;
  const eventsTotal = deps.metrics.counter({
    name: 'enforcer_spend_events_total',
    help: 'Events of settled spend read from the log, by what became of them',
    labelNames: ['outcome'],
  });

  async function tellOfLimits(tenantId: TenantId, spends: readonly Item[]): Promise<void> {
    const agentIds = [...new Set(spends.map(({ agentId }) => agentId))];
    const planKeys = [...new Set(spends.flatMap(({ planKey }) => planKey ?? []))];
    const set = await limits.of(tenantId, { agentIds, planKeys }).catch((err: unknown) => {
      // The next spend finds what was reached. Until then nothing else may wait for budgets.
      logger.warn({ err, tenant_id: tenantId }, 'the limits of a workspace are not known, so nobody is warned of them');
      return [];
    });
    if (set.length === 0) return;
    const reached = await submit(tenantId, findReached(set));
    if (reached.length === 0) return;
    await append(
      tenantId,
      reached.map((threshold) => thresholdReached(tenantId, threshold, clock())),
    );
    await submit(tenantId, tell(reached));
  }

  async function postAll(tenantId: TenantId, spends: readonly Item[]): Promise<PostOutcome[]> {
    const now = clock();
    const outcomes = await Promise.all(spends.map((spend) => submit(tenantId, post(spend, now))));
    await tellOfLimits(tenantId, spends);
    return outcomes;
  }

  return deps.group.consumer({
    topic: GATEWAY_EVENTS_TOPIC_OPTIONS,
    decode({ value }): Item | undefined {
      const type = peekEventType(value);
      if (type !== null && type !== 'spend.settled') return undefined;
      const { tenantId, event } = decodeGatewayEvent(value);
      if (!isSpendSettled(event)) return undefined;
      const { settlement_id, reservation_id, agent_id, plan_key, amount_micros } = event.data;
      return {
        tenantId,
        settlementId: settlement_id,
        reservationId: reservation_id ?? null,
        agentId: agent_id,
        planKey: plan_key ?? null,
        micros: amount_micros,
        at: Date.parse(event.time),
      };
    },
    // The ledger writes for itself, so this transaction has the offset alone.
    async apply(_session, items) {
      const byTenant = Map.groupBy(items, ({ tenantId }) => tenantId);
      const outcomes = await Promise.all([...byTenant].map(([tenantId, spends]) => postAll(tenantId, spends)));
      return outcomes.flat();
    },
    applied(outcomes) {
      for (const outcome of outcomes) eventsTotal.inc({ outcome });
    },
  });
}
