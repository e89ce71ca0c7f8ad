import type { SpendRepricedEvent } from '@tollkeeper/contracts';
import { SPEND_REPRICED, type DashboardEvent, type EventData } from './event.ts';

/** A correction as it is stored: beside its amounts, what rows and budgets count it by. */
export function toCorrectionData({ corrected_at, ...data }: SpendRepricedEvent['data']): EventData {
  return { ...data, corrected_ms: Date.parse(corrected_at) };
}

/** What a correction adds to the settled spend, in USD micros. */
export function correctedBy({ from_micros = 0, to_micros = 0 }: EventData): number {
  return to_micros - from_micros;
}

/** The settlements among `events`, in the same order, with the amounts and prices of their last corrections. */
export function withCorrections(events: readonly DashboardEvent[]): DashboardEvent[] {
  const last = new Map<string, EventData>();
  for (const { type, data } of events) {
    if (type !== SPEND_REPRICED) continue;
    const known = last.get(data.settlement_id ?? '');
    if (known === undefined || known.corrected_ms! <= data.corrected_ms!) last.set(data.settlement_id ?? '', data);
  }
  const settlements = events.filter(({ type }) => type !== SPEND_REPRICED);
  if (last.size === 0) return settlements;
  return settlements.map((event) => {
    const correction = last.get(event.data.settlement_id ?? '');
    return correction === undefined ? event : { ...event, data: corrected(event.data, correction) };
  });
}

function corrected(
  { price_version: _before, ...kept }: EventData,
  { to_micros = 0, priced_by, price_id, price_version }: EventData,
): EventData {
  return {
    ...kept,
    amount_micros: to_micros,
    ...(priced_by !== undefined && { priced_by }),
    ...(price_id !== undefined && { price_id }),
    ...(price_version !== undefined && { price_version }),
  };
}
