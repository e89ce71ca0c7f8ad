import {
  decodeGatewayEvent,
  GATEWAY_EVENTS_TOPIC_OPTIONS,
  type GatewayEventRecord,
  isCallFailed,
  isSpendRepriced,
  isSpendSettled,
  peekEventType,
} from '@tollkeeper/contracts';
import type { Submit } from '../domain/decision.ts';
import type { ConsumerGroup, LogConsumer } from '@tollkeeper/event-log';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { BudgetSource } from '../domain/peers.ts';
import { withNewestBudgets } from '../domain/newest.budgets.ts';
import { type Correction, postAny } from '../domain/correct.ts';
import { fail } from '../domain/hold.ts';
import type { ReportedSpend } from '../domain/settle.ts';
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

type Spend = ReportedSpend | Correction;
/** Spend, or the request of a call that failed. */
type Item = { tenantId: TenantId } & ({ spend: Spend } | { failed: string });

const READ_TYPES: ReadonlySet<string> = new Set(['spend.settled', 'spend.repriced', 'call.failed']);

/**
 * Posts the spend in events, and reports the limits that it reaches. Posting a settlement again changes nothing, so it
 * needs no transaction with the offset. The offset moves after a whole batch is posted. The reservation of a failed
 * call is released a little after its event was read last.
 */
export function createGatewayEventsConsumer(deps: GatewayEventsDeps): LogConsumer {
  const { thresholds, clock } = deps;
  const eventsTotal = deps.metrics.counter({
    name: 'enforcer_spend_events_total',
    help: 'Settlements and corrections read from the log, by outcome',
    labelNames: ['outcome'],
  });

  async function postAll(tenantId: TenantId, spends: readonly Spend[]): Promise<void> {
    if (spends.length === 0) return;
    const now = clock();
    const posted = await withNewestBudgets(deps.budgets, tenantId, (active) =>
      Promise.all(spends.map((spend) => deps.submit(tenantId, postAny(spend, now, active)))),
    );
    for (const { outcome } of posted) eventsTotal.inc({ outcome });
    const postings = posted.flatMap(({ posting }) => posting ?? []);
    await thresholds.report(tenantId, postings);
  }

  return deps.group.consumer({
    topic: GATEWAY_EVENTS_TOPIC_OPTIONS,
    decode({ value }): Item | undefined {
      const type = peekEventType(value);
      return type === null || READ_TYPES.has(type) ? itemOf(decodeGatewayEvent(value)) : undefined;
    },
    // Runs outside a transaction, since it waits for the ledger and for budgets.
    async applyAhead(items) {
      const byTenant = Map.groupBy(items, ({ tenantId }) => tenantId);
      const applied = [...byTenant].map(async ([tenantId, ofTenant]) => {
        // A success among them counts first.
        await postAll(
          tenantId,
          ofTenant.flatMap((item) => ('spend' in item ? [item.spend] : [])),
        );
        const failed = new Set(ofTenant.flatMap((item) => ('failed' in item ? [item.failed] : [])));
        await Promise.all([...failed].map((requestId) => deps.submit(tenantId, fail(requestId))));
      });
      await Promise.all(applied);
    },
  });
}

function itemOf(record: GatewayEventRecord): Item | undefined {
  const { tenantId, event } = record;
  if (isCallFailed(event)) return { tenantId, failed: event.data.request_id };
  const spend = spendOf(record);
  return spend && { tenantId, spend };
}

function spendOf(record: GatewayEventRecord): Spend | undefined {
  const { keyId = null, event } = record;
  if (!isSpendSettled(event) && !isSpendRepriced(event)) return undefined;
  const { settlement_id: settlementId, agent_id: agentId, plan_key: planKey = null } = event.data;
  const { model = null, provider = null, labels = {} } = event.data;
  const at = Date.parse(event.time);
  const spend = { settlementId, agentId, planKey, model, provider, keyId, labels, at };
  if (isSpendSettled(event)) {
    const { reservation_id: reservationId = null, lease_id: leaseId, request_id: requestId } = event.data;
    return { ...spend, reservationId, leaseId, requestId, micros: event.data.amount_micros };
  }
  const { from_micros, to_micros, corrected_at } = event.data;
  return { ...spend, micros: to_micros - from_micros, correctedAt: Date.parse(corrected_at) };
}
