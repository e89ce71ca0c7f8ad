import type { AllowedCall, CallOptions, DeniedCall, ReserveOptions } from './call.types.ts';
import type { ReportedEvent } from './event.reporter.ts';
import type { Send } from './http.transport.ts';
import type { SettledLease } from './gen/types.gen.ts';
import type { LeaseAccount } from './lease.account.ts';
import { createLeaseApi, type LeaseApi, type LeaseSettlement } from './lease.api.ts';
import { LeaseHolder, type LeaseSizing } from './lease.holder.ts';
import { holdSecondsOf, leasedCall } from './leased.call.ts';
import type { Clock } from './monotonic.clock.ts';
import { SettlementQueue } from './settlement.queue.ts';
import { unavailable } from './tollkeeper.error.ts';
import { within } from './within.ts';

/** How leases are sized. */
export type LeaseOptions = Partial<LeaseSizing>;

export interface LeasedCallsDeps {
  send: Send;
  report: (event: ReportedEvent) => Promise<void>;
  clock: Clock;
  options: LeaseOptions;
  timeoutMs: number;
  settleTimeoutMs: number;
  /** Most settlements that wait. With more, calls reserve and settle for themselves, as fast as Tollkeeper does. */
  maxWaiting?: number;
}

/** Most leases that are granted from at the same time. */
const MAX_HOLDERS = 1_000;
const KEEP_EVERY_MS = 1_000;

/** Grants calls from leases, in the memory of this process. */
export class LeasedCalls {
  readonly #deps: LeasedCallsDeps;
  readonly #sizing: LeaseSizing;
  readonly #api: LeaseApi;
  readonly #holders = new Map<string, LeaseHolder>();
  readonly #queue: SettlementQueue;
  readonly #maxWaiting: number;
  readonly #givenUp = new AbortController();
  /** With a number, it is cheaper than a random id for each call. */
  readonly #idPrefix = `${crypto.randomUUID()}-`;
  #calls = 0;
  #isClosed = false;

  constructor(deps: LeasedCallsDeps) {
    const { send, clock, options, timeoutMs, settleTimeoutMs, maxWaiting = 100_000 } = deps;
    this.#deps = deps;
    this.#sizing = sizingOf(options);
    this.#api = createLeaseApi(send, { timeoutMs, settleTimeoutMs, ttlSeconds: this.#sizing.ttlSeconds });
    this.#maxWaiting = maxWaiting;
    this.#queue = new SettlementQueue({
      send: (lease, settlements) => this.#settle(lease, settlements),
      report: (lease, settlement) => deps.report(toEvent(lease, settlement)),
      clock,
    });
  }

  /** Grants the call if a lease covers it now. */
  take(request: ReserveOptions): AllowedCall | undefined {
    const seconds = this.#holdSecondsOf(request);
    const holder = seconds === undefined ? undefined : this.#holders.get(keyOf(request));
    return holder && this.#hold(holder, request, seconds!);
  }

  /** Asks for a lease that covers the call. Resolves to undefined if the call is to reserve for itself. */
  async ask(request: ReserveOptions): Promise<AllowedCall | DeniedCall | undefined> {
    const { amountMicros, runId, signal } = request;
    const seconds = this.#holdSecondsOf(request);
    const holder = seconds === undefined ? undefined : this.#holderOf(request);
    if (holder === undefined) return undefined;
    let isOver = false;
    const take = () => (isOver ? undefined : this.#hold(holder, request, seconds!));
    const late = () => unavailable('timeout', 'Tollkeeper did not grant a lease in time.');
    try {
      const { timeoutMs } = this.#deps;
      const answer = await within({ timeoutMs, signal }, late, () => holder.ask({ amountMicros, runId }, take));
      if (answer === undefined || 'allowed' in answer) return answer;
      const { denial, limits } = answer;
      return { allowed: false, requestId: crypto.randomUUID(), denial, limits };
    } finally {
      isOver = true;
    }
  }

  /** Resolves when all settlements so far are durable. Rejects if one was lost since the last time. */
  flush(): Promise<void> {
    return this.#queue.flush();
  }

  /** Grants nothing more, settles, and returns the leases that no call holds. */
  async close({ signal }: CallOptions = {}): Promise<void> {
    this.#isClosed = true;
    const giveUp = () => {
      this.#givenUp.abort(signal?.reason);
      this.#queue.giveUp(signal?.reason);
    };
    if (signal?.aborted === true) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    const holders = [...this.#holders.values()];
    try {
      await Promise.all(holders.map((holder) => holder.answered()));
      await this.flush();
    } finally {
      // A settlement that was lost is no reason to keep the leases.
      if (!this.#givenUp.signal.aborted) await Promise.all(holders.map((holder) => holder.returnAll()));
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /** Undefined if the call is to reserve for itself. */
  #holdSecondsOf(request: ReserveOptions): number | undefined {
    const isFull = this.#isClosed || this.#queue.size >= this.#maxWaiting;
    return isFull || request.amountMicros > this.#sizing.maxMicros ? undefined : holdSecondsOf(request);
  }

  #hold(holder: LeaseHolder, request: ReserveOptions, seconds: number): AllowedCall | undefined {
    const { clock, settleTimeoutMs } = this.#deps;
    const now = clock.now();
    const held = holder.hold(request.amountMicros, now, now + seconds * 1_000);
    if (held === undefined) return undefined;
    const id = this.#idPrefix + ++this.#calls;
    return leasedCall(request, { id, holder, ...held }, { queue: this.#queue, clock, settleTimeoutMs });
  }

  #holderOf(request: ReserveOptions): LeaseHolder | undefined {
    const key = keyOf(request);
    const known = this.#holders.get(key);
    if (known !== undefined || this.#holders.size >= MAX_HOLDERS) return known;
    const { agentId, planKey, model, provider, labels } = request;
    // A copy: the caller may change its labels.
    const facts = { agent_id: agentId, plan_key: planKey, model, provider, labels: labels && { ...labels } };
    const holder = new LeaseHolder(facts, { api: this.#api, clock: this.#deps.clock, sizing: this.#sizing });
    this.#holders.set(key, holder);
    if (this.#holders.size === 1) this.#keepSoon();
    return holder;
  }

  #keepSoon(): void {
    this.#deps.clock.afterIfAlive(KEEP_EVERY_MS, () => {
      const now = this.#deps.clock.now();
      const isSettling = (lease: LeaseAccount) => this.#queue.has(lease);
      for (const [key, holder] of this.#holders) if (!holder.keep(now, isSettling)) this.#holders.delete(key);
      if (this.#holders.size > 0) this.#keepSoon();
    });
  }

  async #settle(lease: LeaseAccount, settlements: readonly LeaseSettlement[]): Promise<SettledLease['results']> {
    const settled = await this.#api.settle(lease.id, settlements, this.#givenUp.signal);
    if (settled.lease.state !== 'open') lease.isOpen = false;
    return settled.results;
  }
}

/** For a settlement that its lease cannot take. */
function toEvent({ facts }: LeaseAccount, { occurred_at: time, ...spend }: LeaseSettlement): ReportedEvent {
  const { model = facts.model, provider = facts.provider } = spend;
  const data = { ...facts, ...spend, model, provider };
  return { id: spend.settlement_id, time, type: 'spend.settled', data } as ReportedEvent;
}

/** Calls with the same key are seen by the same budgets. Lengths make it unambiguous, whatever the texts contain. */
function keyOf({ agentId, planKey, model, provider, labels }: ReserveOptions): string {
  const key = `${agentId.length} ${agentId}${part(planKey)}${part(model)}${part(provider)}`;
  if (labels === undefined) return key;
  const names = Object.keys(labels);
  if (names.length > 1) names.sort();
  return names.reduce((all, name) => `${all}${part(name)}${part(labels[name])}`, key);
}

function part(text: string | undefined): string {
  return text === undefined ? '-' : `${text.length} ${text}`;
}

function sizingOf({
  targetSeconds = 5,
  maxMicros = Number.MAX_SAFE_INTEGER,
  ttlSeconds = 60,
}: LeaseOptions): LeaseSizing {
  if (!(targetSeconds > 0 && targetSeconds <= 600))
    throw new TypeError('leases.targetSeconds must be above 0, up to 600');
  if (!(Number.isSafeInteger(maxMicros) && maxMicros > 0)) {
    throw new TypeError('leases.maxMicros must be a whole number of USD micros above 0');
  }
  if (!(Number.isInteger(ttlSeconds) && ttlSeconds >= 10 && ttlSeconds <= 600)) {
    throw new TypeError('leases.ttlSeconds must be a whole number from 10 to 600');
  }
  return { targetSeconds, maxMicros, ttlSeconds };
}
