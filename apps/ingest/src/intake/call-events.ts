import { type CallOrigin, ifValid } from '@tollkeeper/call-facts';
import {
  type CallFailedEvent,
  type CallUnmeteredEvent,
  type GatewayEvent,
  type GuardBlockedEvent,
  modelName,
  type PriceMissingEvent,
  serviceTier,
  type SpendSettledEvent,
} from '@tollkeeper/contracts';
import { mapInSlices } from '@tollkeeper/kernel';
import { inputTotal, type TokenKinds } from '@tollkeeper/prices';
import { type CallPrice, isUnpriced, type PricedCall } from './call-price.ts';
import type { CallOutcome, CallRecord, GuardBlock } from './call-record.ts';
import { digest } from './identity.ts';
import { utcDayOf } from './said-today.ts';

/** Of events that ingest makes: of one of a source and an id, only the first counts. */
const OWN_SOURCE = 'tollkeeper/ingest';
const UNKNOWN_MODEL = 'unknown';

/** The events of calls: what they cost, that nobody knows it, that they failed, or that a guard blocked them. */
export async function eventsOf(calls: readonly PricedCall[], blocks: readonly GuardBlock[]): Promise<GatewayEvent[]> {
  const ofCalls = await mapInSlices(calls, (call) => settlementOf(call) ?? unmeteredOf(call) ?? failedOf(call));
  return [...ofCalls.filter((event) => event !== undefined), ...(await mapInSlices(blocks, blockedOf))];
}

/** One event for each model of the unpriced calls. It has the same id for all calls of a UTC day. */
export async function missingPricesOf(calls: readonly PricedCall[], receivedMs: number): Promise<PriceMissingEvent[]> {
  const models = new Map<string, PriceMissingEvent['data']>();
  for (const call of calls) {
    if (!isUnpriced(call)) continue;
    const { model = UNKNOWN_MODEL, provider } = call;
    models.set(JSON.stringify([provider, model]), { model, ...(provider !== undefined && { provider }) });
  }
  const day = utcDayOf(receivedMs);
  return mapInSlices([...models], ([name, data]) => ({
    ...attributesOf({ source: OWN_SOURCE, timeMs: receivedMs }),
    id: `price:${digest([day, name])}`,
    type: 'price.missing',
    data,
  }));
}

/** Events of the same call have the same id and source. */
function settlementOf(call: PricedCall): SpendSettledEvent | undefined {
  const { settlementId, outcome, price, planKey } = call;
  if (outcome !== 'spent') return undefined;
  return {
    ...attributesOf(call),
    id: settlementId,
    type: 'spend.settled',
    data: {
      settlement_id: settlementId,
      ...dataOf(call),
      amount_micros: price.micros,
      ...(planKey !== undefined && { plan_key: planKey }),
      ...pricingOf(price),
      ...(call.cost !== undefined && { sender_amount: call.cost.text }),
      ...detailsOf(call),
    },
  };
}

function pricingOf(price: CallPrice): Partial<SpendSettledEvent['data']> {
  switch (price.pricedBy) {
    case 'sender':
      return { priced_by: 'sender' };
    case 'override':
      return { priced_by: 'override', price_id: price.priceId };
    case 'table':
      return { priced_by: 'table', price_id: price.priceId, price_version: price.priceVersion };
    case 'none':
      return { priced_by: 'none' };
  }
}

function detailsOf(call: CallRecord): Partial<SpendSettledEvent['data']> {
  const { tokens, reservationId, requestId, flags } = call;
  const tier = ifValid(serviceTier, call.serviceTier);
  const responseModel = ifValid(modelName, call.responseModel);
  const requestModel = ifValid(modelName, call.requestModel);
  return {
    ...(tokens !== undefined && {
      input_tokens: inputTotal(tokens),
      output_tokens: tokens.output,
      tokens: kindsOf(tokens),
    }),
    ...(reservationId !== undefined && { reservation_id: reservationId }),
    ...(requestId !== undefined && requestId !== reservationId && { request_id: requestId }),
    ...(tier !== undefined && { service_tier: tier }),
    ...(responseModel !== undefined && { response_model: responseModel }),
    ...(requestModel !== undefined && { request_model: requestModel }),
    ...(flags.length > 0 && { flags: [...flags] }),
  };
}

function kindsOf({ input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning }: TokenKinds) {
  return {
    input,
    ...(cacheRead > 0 && { cache_read: cacheRead }),
    ...(cacheWrite > 0 && { cache_write: cacheWrite }),
    ...(cacheWrite1h > 0 && { cache_write_1h: cacheWrite1h }),
    output,
    ...(reasoning > 0 && { reasoning }),
  };
}

/** Why nobody knows what a call cost; null if it is known, or nothing was spent. */
const UNMETERED: Record<CallOutcome, CallUnmeteredEvent['data']['reason'] | null> = {
  spent: null,
  failed: null,
  denied: null,
  no_usage: 'no_usage',
  client_gone: 'client_gone',
};

/** Its id is not that of a settlement, which counts beside it if another report has the usage. */
function unmeteredOf(call: CallRecord): CallUnmeteredEvent | undefined {
  const { settlementId, outcome } = call;
  const reason = UNMETERED[outcome];
  if (reason === null) return undefined;
  const data = { call_id: settlementId, ...dataOf(call), reason };
  return { ...attributesOf(call), id: `unmetered:${digest([settlementId])}`, type: 'call.unmetered', data };
}

/** Only of calls that may have a reservation. All attempts of a call have the same id. */
function failedOf({ outcome, requestId, ...call }: CallRecord): CallFailedEvent | undefined {
  if (outcome !== 'failed' || requestId === undefined) return undefined;
  const data = dataOf({ ...call, labels: {} });
  const id = `failed:${digest([requestId])}`;
  return { ...attributesOf(call), id, type: 'call.failed', data: { request_id: requestId, ...data } };
}

function blockedOf(block: GuardBlock): GuardBlockedEvent {
  const { id, guard } = block;
  const reason = `The guard ${guard} blocked the call, as its gateway reports.`;
  return { ...attributesOf(block), id, type: 'guard.blocked', data: { ...dataOf(block), guard, reason } };
}

function attributesOf({ source, timeMs }: Pick<CallOrigin, 'source' | 'timeMs'>) {
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
