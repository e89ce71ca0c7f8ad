import { responseSettlementId } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Reservations } from '../domain/enforcement.ts';
import { reservationIdOf } from '../domain/journal.ts';
import type { Reservation, ReservingKey, Settlement } from '../domain/reservation.ts';
import type { ReportedCall, UnreservedSpend } from '../domain/unreserved.spend.ts';
import type { CallPrices } from '../prices/call.prices.ts';

/** What a call used, as far as its gateway says. */
export interface CallUsage {
  /** Its cost. It counts before the tokens. */
  micros?: number;
  /** With those that were read from a cache, or without them, as providers differ. */
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
}

export interface EndedCall extends ReportedCall {
  /** The provider's id of the answer, if it is known. */
  responseId: string | undefined;
  /** Whether the model began to answer. */
  isAnswered: boolean;
  usage: CallUsage;
}

export interface CallEndDeps {
  reservations: Reservations;
  unreserved: UnreservedSpend;
  prices: CallPrices;
}

/** Ends the reservation of a call, by the id of the call. Everything may be repeated. */
export type EndCall = (key: ReservingKey, call: EndedCall) => Promise<void>;

/**
 * Settles a call at the cost or the price of what it used. If neither is known, but it was answered, it is settled at
 * what was held for it. If it was not answered, its reservation is released. What was used without a reservation is
 * reported as unreserved spend.
 */
export function createCallEnd({ reservations, unreserved, prices }: CallEndDeps): EndCall {
  const find = (tenantId: TenantId, id: string) => reservations.get(tenantId, id).catch(nullIf('not_found'));

  /** The reservation of a call whose cost is not known, if it can still be settled. */
  async function unsettled(tenantId: TenantId, id: string): Promise<Reservation | null> {
    const reservation = await find(tenantId, id);
    const isOpen = reservation?.state === 'held' || reservation?.state === 'expired';
    return isOpen ? reservation : null;
  }

  return async (key, call) => {
    const { tenantId } = key;
    const id = reservationIdOf(tenantId, call.requestId);
    const tokens = tokensOf(call.usage);
    const cost = call.usage.micros ?? (tokens && (await priceOf(prices, tenantId, call, tokens)));
    if (cost === undefined && tokens === undefined && !call.isAnswered) {
      await reservations.release(tenantId, id).catch(nullIf('not_found', 'conflict'));
      return;
    }
    const reserved = cost === undefined ? await unsettled(tenantId, id) : null;
    const isUnknown = cost === undefined && reserved === null;
    if (isUnknown && tokens === undefined) return;
    const settlement: Settlement = {
      settlementId: settlementIdOf(call),
      amountMicros: cost ?? reserved?.amountMicros ?? 0,
      ...(call.model !== null && { model: call.model }),
      ...(call.provider !== null && { provider: call.provider }),
      ...tokens,
      ...(reserved !== null && { pricedBy: 'reservation' }),
      ...(isUnknown && { pricedBy: 'none' }),
    };
    const settled = await reservations.settle(tenantId, id, settlement).catch(nullIf('not_found', 'conflict'));
    if (settled !== null) return;
    const state = (await find(tenantId, id))?.state ?? 'none';
    // Another report of the call has settled it.
    if (state !== 'none' && state !== 'released') return;
    await unreserved.report(key, call, settlement);
  };
}

function settlementIdOf({ responseId, requestId }: EndedCall): string {
  return (responseId !== undefined ? responseSettlementId(responseId) : undefined) ?? requestId;
}

type UsedTokens = Required<Pick<Settlement, 'inputTokens' | 'outputTokens'>> & Pick<Settlement, 'cachedTokens'>;

/** Some providers count cached tokens as input, and some do not; then there can be more of them than of input. */
function tokensOf({ inputTokens = 0, outputTokens = 0, cachedTokens }: CallUsage): UsedTokens | undefined {
  if (inputTokens + outputTokens + (cachedTokens ?? 0) === 0) return undefined;
  const input = cachedTokens !== undefined && cachedTokens > inputTokens ? inputTokens + cachedTokens : inputTokens;
  return { inputTokens: input, outputTokens, ...(cachedTokens !== undefined && { cachedTokens }) };
}

/** Undefined without a price. While prices cannot be read, the call must still end. */
async function priceOf(
  prices: CallPrices,
  tenantId: TenantId,
  { model, provider }: EndedCall,
  { inputTokens = 0, outputTokens = 0, cachedTokens = 0 }: UsedTokens,
): Promise<number | undefined> {
  if (model === null) return undefined;
  const tokens = { input: inputTokens - cachedTokens, cacheRead: cachedTokens, output: outputTokens };
  const asked = prices.amountOf(tenantId, { model, provider: provider ?? undefined, tokens });
  return (await asked.catch(nullIf('service_unavailable'))) ?? undefined;
}

/** For promises: null instead of these errors. */
function nullIf(...codes: AppError['code'][]): (error: unknown) => null {
  return (error) => {
    if (error instanceof AppError && codes.includes(error.code)) return null;
    throw error;
  };
}
