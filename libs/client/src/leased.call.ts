import type { AllowedCall, ReserveOptions, SettleOptions } from './call.types.ts';
import type { LeaseAccount } from './lease.account.ts';
import type { LeaseHolder } from './lease.holder.ts';
import type { Clock } from './monotonic.clock.ts';
import type { LeaseSettlement } from './lease.api.ts';
import type { SettlementQueue } from './settlement.queue.ts';
import { TollkeeperError, unavailable } from './tollkeeper.error.ts';
import { within } from './within.ts';

export interface LeasedCallDeps {
  queue: SettlementQueue;
  clock: Clock;
  settleTimeoutMs: number;
}

/** A call whose amount is held in a lease. */
export interface HeldCall {
  /** Of the call, and of its settlement unless another one is given. */
  id: string;
  holder: LeaseHolder;
  lease: LeaseAccount;
  /** When the hold expires. */
  step: number;
}

const IDENTIFIER = /^[A-Za-z0-9._:-]{1,128}$/;
const MAX_NAME = 128;
const MIN_TTL_SECONDS = 10;
const MAX_TTL_SECONDS = 3_600;
const DEFAULT_TTL_SECONDS = 600;
const STILL_SENT = 'Tollkeeper did not accept the spend in time. It is still being sent.';

/**
 * How long the call may be held in a lease. Undefined if only Tollkeeper may answer: a call with a `requestId` may be a
 * repeat, and an invalid one is refused.
 */
export function holdSecondsOf({ requestId, runId, amountMicros, ttlSeconds }: ReserveOptions): number | undefined {
  const seconds = ttlSeconds ?? DEFAULT_TTL_SECONDS;
  if (requestId !== undefined || !isCount(amountMicros) || !isTtl(seconds)) return undefined;
  return IDENTIFIER.test(runId) ? seconds : undefined;
}

/** A call that is granted from a lease. */
export function leasedCall(request: ReserveOptions, held: HeldCall, deps: LeasedCallDeps): AllowedCall {
  const { runId, amountMicros } = request;
  const { id, holder, lease } = held;
  let { step } = held;
  let settlement: LeaseSettlement | undefined;
  let isReleased = false;

  function settle(options: SettleOptions): Promise<null> {
    const problem = isReleased ? conflict('was released') : problemOf(options);
    if (problem !== undefined) return Promise.reject(problem);
    const { settlementId = id, durable = false } = options;
    if (settlement === undefined) {
      settlement = toSettlement(settlementId, runId, options);
      lease.free(amountMicros, step);
      lease.usedMicros += options.amountMicros;
      holder.spent(options.amountMicros);
      if (!durable) deps.queue.add(lease, settlement);
    } else if (settlement.settlement_id !== settlementId) {
      return Promise.reject(conflict('was settled with another settlementId'));
    }
    return durable ? settleDurably(settlement, options.signal) : Promise.resolve(null);
  }

  async function settleDurably(settled: LeaseSettlement, signal: AbortSignal | undefined): Promise<null> {
    const late = () => unavailable('timeout', STILL_SENT);
    await within({ timeoutMs: deps.settleTimeoutMs, signal }, late, () => deps.queue.addDurable(lease, settled));
    return null;
  }

  return {
    allowed: true,
    requestId: id,
    leaseId: lease.id,
    reservation: null,
    limits: [],
    settle,
    async release() {
      if (settlement !== undefined) throw conflict('was settled');
      if (!isReleased) lease.free(amountMicros, step);
      isReleased = true;
      return null;
    },
    async extend(ttlSeconds) {
      if (!isTtl(ttlSeconds)) throw invalid('ttlSeconds', `must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}`);
      if (settlement !== undefined || isReleased) throw conflict('is over');
      if (!lease.isOpen || !lease.free(amountMicros, step)) throw conflict('has expired');
      step = lease.hold(amountMicros, deps.clock.now() + ttlSeconds * 1_000);
      return null;
    },
  };
}

function toSettlement(settlementId: string, runId: string, cost: SettleOptions): LeaseSettlement {
  const { amountMicros, model, provider, inputTokens, outputTokens } = cost;
  return {
    settlement_id: settlementId,
    run_id: runId,
    amount_micros: amountMicros,
    occurred_at: momentNow(),
    model,
    provider,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  };
}

/** Most calls share their millisecond with others. */
let momentMs = 0;
let moment = '';

function momentNow(): string {
  const now = Date.now();
  if (now !== momentMs) {
    momentMs = now;
    moment = new Date(now).toISOString();
  }
  return moment;
}

/** What Tollkeeper would refuse later, when nobody waits for the answer. */
function problemOf(options: SettleOptions): TollkeeperError | undefined {
  const { amountMicros, inputTokens = 0, outputTokens = 0, model, provider, settlementId } = options;
  const counts = { amountMicros, inputTokens, outputTokens };
  if (!isCount(amountMicros) || !isCount(inputTokens) || !isCount(outputTokens)) {
    const [field = ''] = Object.entries(counts).find(([, value]) => !isCount(value)) ?? [];
    return invalid(field, 'must be an integer from 0 to 9007199254740991');
  }
  if (!isName(model)) return invalid('model', `must have 1 to ${MAX_NAME} characters`);
  if (!isName(provider)) return invalid('provider', `must have 1 to ${MAX_NAME} characters`);
  if (settlementId === undefined || IDENTIFIER.test(settlementId)) return undefined;
  return invalid('settlementId', 'must have 1 to 128 characters of A-Z a-z 0-9 . _ : -');
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function isTtl(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= MIN_TTL_SECONDS && seconds <= MAX_TTL_SECONDS;
}

function isName(name: string | undefined): boolean {
  return name === undefined || (name.length > 0 && name.length <= MAX_NAME);
}

function invalid(path: string, message: string): TollkeeperError {
  return new TollkeeperError(`${path} ${message}`, { code: 'invalid_request', details: [{ path, message }] });
}

function conflict(why: string): TollkeeperError {
  const message = `The call ${why}. If it cost something more, report the cost as a spend.settled event.`;
  return new TollkeeperError(message, { code: 'conflict' });
}
