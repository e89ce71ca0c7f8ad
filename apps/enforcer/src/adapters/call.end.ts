import { setTimeout as delay } from 'node:timers/promises';
import { isOfResponse, responseSettlementId } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { TokenAmount } from '@tollkeeper/prices';
import type { Reservations } from '../domain/enforcement.ts';
import { reservationIdOf } from '../domain/journal.ts';
import type { Reservation, ReservingKey, Settlement } from '../domain/reservation.ts';
import type { ReportedCall, UnreservedSpend } from '../domain/unreserved.spend.ts';
import type { CallPrices } from '../prices/call.prices.ts';

/** What a call used, as far as its gateway says. All of it together is at most the largest amount. */
export interface CallUsage {
  /** Its cost. It counts before the tokens. */
  micros?: number;
  /** With those that were read from a cache or written to one, or without them, as providers differ. */
  inputTokens?: number;
  outputTokens?: number;
  cachedTokens?: number;
  cacheWriteTokens?: number;
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

/** How often prices are read if they cannot be, and the time in between, after which budgets is asked again. */
const PRICE_READS = { times: 4, pauseMs: 1_100 };

/**
 * Settles a call at the cost or the price of what it used. If neither is known, but it was answered, it is settled at
 * what was held for it. If it was not answered, its reservation is released. What was used without a reservation is
 * reported as unreserved spend.
 */
export function createCallEnd({ reservations, unreserved, prices }: CallEndDeps): EndCall {
  const find = (tenantId: TenantId, id: string) => reservations.get(tenantId, id).catch(nullIf('not_found'));
  const release = (tenantId: TenantId, id: string) =>
    reservations.release(tenantId, id).catch(nullIf('not_found', 'conflict'));

  /** Null without a price. The call must still end while prices cannot be read, but its proxy waits for no answer. */
  async function priceOf(tenantId: TenantId, { provider }: EndedCall, model: string, tokens: UsedTokens) {
    const call = { model, provider: provider ?? undefined, tokens: kindsOf(tokens) };
    for (let reads = 1; ; reads += 1) {
      const amount = await prices.amountOf(tenantId, call).catch(nullIf('service_unavailable'));
      if (amount !== null || reads === PRICE_READS.times) return amount ?? null;
      await delay(PRICE_READS.pauseMs);
    }
  }

  /** What the call cost, without its tokens; null if that is not known, and its reservation cannot say it either. */
  async function costOf(tenantId: TenantId, id: string, call: EndedCall, tokens: UsedTokens | undefined) {
    if (call.usage.micros !== undefined) return { amountMicros: call.usage.micros };
    const priced = tokens && call.model !== null && (await priceOf(tenantId, call, call.model, tokens));
    if (priced) return costBy(priced);
    const reserved = await find(tenantId, id);
    // The model that was asked for, since the one that answered has no price.
    const asked = tokens && reserved?.model && (await priceOf(tenantId, call, reserved.model, tokens));
    if (asked) return costBy(asked);
    if (isOpen(reserved)) return { amountMicros: reserved.amountMicros, pricedBy: 'reservation' as const };
    return tokens === undefined ? null : { amountMicros: 0, pricedBy: 'none' as const };
  }

  return async (key, call) => {
    const { tenantId } = key;
    const id = reservationIdOf(tenantId, call.requestId);
    const tokens = tokensOf(call);
    if (call.usage.micros === undefined && tokens === undefined && !call.isAnswered) {
      await release(tenantId, id);
      return;
    }
    const cost = await costOf(tenantId, id, call, tokens);
    if (cost === null) return;
    const settlement: Settlement = {
      settlementId: settlementIdOf(call),
      ...(call.model !== null && { model: call.model }),
      ...(call.provider !== null && { provider: call.provider }),
      ...tokens,
      ...cost,
    };
    const settled = await reservations.settle(tenantId, id, settlement).catch(nullIf('not_found', 'conflict'));
    if (settled !== null) return;
    const found = await find(tenantId, id);
    // The settlement counts for another call already: its answer was repeated.
    if (found?.state === 'held' && (await release(tenantId, id)) !== null) return;
    if (found !== null && found.state !== 'released' && !isOfAnotherAnswer(settlement, found)) return;
    await unreserved.report(key, call, settlement);
  };
}

/** Whether a reservation can still be settled. */
function isOpen(reservation: Reservation | null): reservation is Reservation {
  return reservation?.state === 'held' || reservation?.state === 'expired';
}

/**
 * Whether two answers have the same id of a call, which a caller may have chosen. Both were paid for. Other settlements
 * may be reports of the same answer.
 */
function isOfAnotherAnswer({ settlementId: id }: Settlement, { settlementId: first }: Reservation): boolean {
  return isOfResponse(id) && first !== id && (first === null || isOfResponse(first));
}

function settlementIdOf({ responseId, requestId }: EndedCall): string {
  return (responseId !== undefined ? responseSettlementId(responseId) : undefined) ?? requestId;
}

function costBy({ micros, ...by }: TokenAmount): Pick<Settlement, 'amountMicros' | 'pricedBy' | 'priceId'> {
  return { amountMicros: micros, ...by };
}

type UsedTokens = Required<Pick<Settlement, 'inputTokens' | 'outputTokens'>> &
  Pick<Settlement, 'cachedTokens' | 'cacheWriteTokens'>;

/** Anthropic's own names, also at other providers: `anthropic.claude-…`. */
const OF_ANTHROPIC = /^(\w+\.)*claude/;

/** Cached tokens are extra to the input of Anthropic, and of all others that report more of them than of input. */
function tokensOf({ usage, provider, model }: EndedCall): UsedTokens | undefined {
  const { inputTokens = 0, outputTokens = 0, cachedTokens, cacheWriteTokens } = usage;
  const ofCache = (cachedTokens ?? 0) + (cacheWriteTokens ?? 0);
  if (inputTokens + outputTokens + ofCache === 0) return undefined;
  const isExtra = provider === 'anthropic' || OF_ANTHROPIC.test(model ?? '') || ofCache > inputTokens;
  return {
    inputTokens: isExtra ? inputTokens + ofCache : inputTokens,
    outputTokens,
    ...(cachedTokens !== undefined && { cachedTokens }),
    ...(cacheWriteTokens !== undefined && { cacheWriteTokens }),
  };
}

function kindsOf({ inputTokens = 0, outputTokens = 0, cachedTokens = 0, cacheWriteTokens = 0 }: UsedTokens) {
  const input = inputTokens - cachedTokens - cacheWriteTokens;
  return { input, cacheRead: cachedTokens, cacheWrite: cacheWriteTokens, output: outputTokens };
}

/** For promises: null instead of these errors. */
function nullIf(...codes: AppError['code'][]): (error: unknown) => null {
  return (error) => {
    if (error instanceof AppError && codes.includes(error.code)) return null;
    throw error;
  };
}
