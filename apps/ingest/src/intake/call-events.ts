import type { GatewayEvent, GuardBlockedEvent, SpendSettledEvent } from '@tollkeeper/contracts';
import { mapInSlices } from '@tollkeeper/kernel';
import { inputTotal } from '@tollkeeper/prices';
import type { PricedCall } from './call-price.ts';
import type { CallOrigin, GuardBlock } from './call-record.ts';

/** The events of calls that have a price, and of blocked calls. Events of the same call have the same id and source. */
export async function eventsOf(calls: readonly PricedCall[], blocks: readonly GuardBlock[]): Promise<GatewayEvent[]> {
  const settlements = await mapInSlices(calls, settlementOf);
  return [...settlements.filter((event) => event !== undefined), ...(await mapInSlices(blocks, blockedOf))];
}

function settlementOf(call: PricedCall): SpendSettledEvent | undefined {
  const { settlementId, price, tokens, planKey, reservationId } = call;
  if (price.pricedBy === 'none') return undefined;
  return {
    ...attributesOf(call),
    id: settlementId,
    type: 'spend.settled',
    data: {
      settlement_id: settlementId,
      ...dataOf(call),
      amount_micros: price.micros,
      ...(planKey !== undefined && { plan_key: planKey }),
      ...(tokens !== undefined && { input_tokens: inputTotal(tokens), output_tokens: tokens.output }),
      ...(reservationId !== undefined && { reservation_id: reservationId }),
    },
  };
}

function blockedOf(block: GuardBlock): GuardBlockedEvent {
  const { id, guard } = block;
  const reason = `The guard ${guard} blocked the call, as its gateway reports.`;
  return { ...attributesOf(block), id, type: 'guard.blocked', data: { ...dataOf(block), guard, reason } };
}

function attributesOf({ source, timeMs }: CallOrigin) {
  return { specversion: '1.0', source, time: new Date(timeMs).toISOString() } as const;
}

function dataOf({ runId, agentId, model, provider, labels }: CallOrigin) {
  return {
    run_id: runId,
    agent_id: agentId,
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}
