import type { DeniedLease, Lease } from './gen/types.gen.ts';
import { LeaseAccount, type LeaseFacts } from './lease.account.ts';
import type { LeaseApi } from './lease.api.ts';
import type { Clock } from './monotonic.clock.ts';
import { TollkeeperUnavailable } from './tollkeeper.error.ts';

export interface LeaseSizing {
  /** A lease is for what the calls spend in this time. */
  targetSeconds: number;
  /** Most USD micros that a lease holds. */
  maxMicros: number;
  ttlSeconds: number;
}

export interface LeaseHolderDeps {
  api: LeaseApi;
  clock: Clock;
  sizing: LeaseSizing;
}

/** A call that no lease covers. */
interface Question {
  runId: string;
  amountMicros: number;
}

/** How long calls that no lease covers ask for themselves after a denial or a failure. */
const BY_CALL_MS = 1_000;
/** Calls that are slower than others wait for this many questions, and then ask for themselves. */
const MAX_QUESTIONS = 4;
/** The pace of the first calls counts as if it had lasted for this part of `targetSeconds`. */
const LEAST_PART = 1 / 8;
/** Clocks of processes differ in speed, so a lease is not trusted for all of its time. */
const TRUSTED_PART = 0.9;

/** The lease for the calls that the same budgets see. It asks one question at a time. */
export class LeaseHolder {
  lease: LeaseAccount | null = null;
  /** Leases that are no longer granted from, until their calls are over. */
  readonly replaced = new Set<LeaseAccount>();
  readonly #facts: LeaseFacts;
  readonly #deps: LeaseHolderDeps;
  #question: Promise<unknown> | null = null;
  /** What the calls need that wait for the question. */
  #waitingMicros = 0;
  /** What was spent lately, which counts the less the longer ago it was. */
  #recentMicros = 0;
  #recentAt: number;
  readonly #startedAt: number;
  /** What was free when Tollkeeper last answered. */
  #answeredMicros = 0;
  /** Whether the last renewal gave less than asked for, so that only another lease may give more. */
  #isSpent = false;
  #usedAt = -Infinity;
  #byCallUntil = -Infinity;

  constructor(facts: LeaseFacts, deps: LeaseHolderDeps) {
    this.#facts = facts;
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    this.#recentAt = this.#startedAt;
  }

  /** Holds the amount in the lease if it covers the call. Asks for more in the background when half is used. */
  hold(amountMicros: number, now: number, until: number): { lease: LeaseAccount; step: number } | undefined {
    const { lease } = this;
    if (lease === null || !lease.covers(amountMicros, now)) return undefined;
    const step = lease.hold(amountMicros, until);
    this.#usedAt = now;
    if (lease.freeMicros * 2 < this.#answeredMicros && !this.#isSpent) this.#renewInBackground(lease);
    return { lease, step };
  }

  /** Counts what a call has cost, for the size of further leases. */
  spent(amountMicros: number): void {
    this.#recentMicros += amountMicros;
  }

  /**
   * Asks for a lease that covers the call, or waits until another call has. `take` grants the call from the lease.
   * Resolves to undefined if the call is to ask for itself. Rejects if Tollkeeper is unavailable.
   */
  async ask<Call>(question: Question, take: () => Call | undefined): Promise<Call | DeniedLease | undefined> {
    const { clock } = this.#deps;
    for (let questions = 0; questions < MAX_QUESTIONS && clock.now() >= this.#byCallUntil; questions += 1) {
      if (this.#question === null) return this.#inTurn(() => this.#askServer(question, take));
      this.#waitingMicros += question.amountMicros;
      await this.#question.catch(() => undefined);
      this.#waitingMicros -= question.amountMicros;
      const call = take();
      if (call !== undefined) return call;
    }
    return undefined;
  }

  /** Keeps leases as long as their calls need them. False if there is nothing to keep. */
  keep(now: number, isSettling: (lease: LeaseAccount) => boolean): boolean {
    const { lease, replaced } = this;
    for (const old of replaced) {
      old.expire(now);
      if (!old.isOpen || now >= old.endsAt) replaced.delete(old);
      else if (old.heldMicros > 0) {
        if (this.#endsSoon(old, now)) void this.#renewQuietly(old);
      } else if (!isSettling(old)) void this.#giveBack(old);
    }
    lease?.expire(now);
    const isOpen = lease !== null && lease.isOpen && now < lease.endsAt;
    const isUsed = now - this.#usedAt < this.#deps.sizing.targetSeconds * 1_000;
    if (isOpen && (isUsed || lease.heldMicros > 0) && this.#endsSoon(lease, now)) this.#renewInBackground(lease);
    return isOpen || replaced.size > 0 || this.#question !== null;
  }

  /** Resolves when no question is in flight. */
  async answered(): Promise<void> {
    await this.#question?.catch(() => undefined);
  }

  /** Returns what no call holds. */
  async returnAll(): Promise<void> {
    const { lease, replaced } = this;
    const all = lease === null ? [...replaced] : [lease, ...replaced];
    await Promise.all(all.filter((each) => each.isOpen && each.heldMicros === 0).map((each) => this.#giveBack(each)));
  }

  async #askServer<Call>(question: Question, take: () => Call | undefined): Promise<Call | DeniedLease | undefined> {
    const { clock } = this.#deps;
    try {
      if (this.lease?.covers(-Infinity, clock.now()) === true && !this.#isSpent) {
        await this.#renew(this.lease, question.amountMicros + this.#waitingMicros);
        const call = take();
        if (call !== undefined) return call;
      }
      const denied = await this.#grant(question);
      // A lease of just this call shows that a limit has little left.
      const isTight = denied !== undefined || this.#answeredMicros <= question.amountMicros;
      if (isTight) this.#byCallUntil = clock.now() + BY_CALL_MS;
      return denied ?? take();
    } catch (error) {
      this.#byCallUntil = clock.now() + BY_CALL_MS;
      // Asking for the call alone shows why it was refused.
      if (error instanceof TollkeeperUnavailable) throw error;
      return undefined;
    }
  }

  async #grant({ runId, amountMicros }: Question): Promise<DeniedLease | undefined> {
    const { api, clock } = this.#deps;
    const wish = this.#wishOf(amountMicros + this.#waitingMicros, 0);
    const sentAt = clock.now();
    const wished = { runId, amountMicros: Math.max(amountMicros, wish), minMicros: amountMicros };
    const answer = await api.grant(this.#facts, wished);
    if (answer.decision === 'denied') return answer;
    const { id, amount_micros: granted, state } = answer.lease;
    const endsAt = trustedUntil(sentAt, answer.lease);
    const lease = new LeaseAccount({ id, facts: this.#facts, amountMicros: granted, endsAt });
    // The answer to a repeated question may say that it has ended meanwhile.
    lease.isOpen = state === 'open';
    if (this.lease !== null) this.replaced.add(this.lease);
    this.lease = lease;
    this.#note(lease, false);
    return undefined;
  }

  async #renew(lease: LeaseAccount, needMicros: number): Promise<void> {
    const { api, clock, sizing } = this.#deps;
    const used = lease.usedMicros + lease.heldMicros;
    const wish = lease === this.lease ? this.#wishOf(needMicros, lease.heldMicros) : 0;
    const wished = Math.max(lease.amountMicros, used + wish);
    const sentAt = clock.now();
    const renewed = await api.renew(lease.id, wished);
    if (renewed === null || renewed.state !== 'open') {
      lease.isOpen = false;
      return;
    }
    lease.amountMicros = renewed.amount_micros;
    lease.endsAt = Math.max(lease.endsAt, trustedUntil(sentAt, renewed));
    lease.isFinal = renewed.expires_in_ms < sizing.ttlSeconds * 1_000 * TRUSTED_PART;
    if (lease === this.lease) this.#note(lease, renewed.amount_micros < wished);
  }

  #note(lease: LeaseAccount, isSpent: boolean): void {
    this.#answeredMicros = lease.freeMicros;
    this.#isSpent = isSpent;
  }

  /** What is to be free: what waiting calls need, and what further calls will spend or hold. */
  #wishOf(needMicros: number, heldMicros: number): number {
    const wish = Math.ceil(needMicros + Math.max(this.#spendOfTarget(), heldMicros + needMicros));
    return Math.max(0, Math.min(wish, this.#deps.sizing.maxMicros - heldMicros));
  }

  /** What calls spend in `targetSeconds`, at their pace of that time or since the first of them. */
  #spendOfTarget(): number {
    const { clock, sizing } = this.#deps;
    const targetMs = sizing.targetSeconds * 1_000;
    const now = clock.now();
    this.#recentMicros *= Math.exp((this.#recentAt - now) / targetMs);
    this.#recentAt = now;
    const elapsedMs = Math.max(now - this.#startedAt, targetMs * LEAST_PART);
    return this.#recentMicros / (1 - Math.exp(-elapsedMs / targetMs));
  }

  /** From half of its time on, so that a failure leaves time for others. */
  #endsSoon({ isFinal, endsAt }: LeaseAccount, now: number): boolean {
    return !isFinal && endsAt - now < (this.#deps.sizing.ttlSeconds * 1_000 * TRUSTED_PART) / 2;
  }

  /** Calls that no lease covers wait for the answer. */
  #renewInBackground(lease: LeaseAccount): void {
    if (this.#question !== null) return;
    // After a failure, the next attempt is when half of the rest is used.
    this.#answeredMicros = lease.freeMicros;
    void this.#inTurn(() => this.#renewQuietly(lease));
  }

  /** Without an answer, the lease stays as it is. */
  #renewQuietly(lease: LeaseAccount): Promise<void> {
    return this.#renew(lease, this.#waitingMicros).catch(() => undefined);
  }

  /** Frees what a lease holds for no call any more. If that fails, it ends with its time. */
  async #giveBack(lease: LeaseAccount): Promise<void> {
    lease.isOpen = false;
    await this.#deps.api.return(lease.id).catch(() => undefined);
  }

  #inTurn<T>(ask: () => Promise<T>): Promise<T> {
    const question = ask().finally(() => {
      this.#question = null;
    });
    this.#question = question;
    return question;
  }
}

/** Counted from before the question, since its way to Tollkeeper is part of the round trip. */
function trustedUntil(sentAt: number, { expires_in_ms }: Lease): number {
  return sentAt + expires_in_ms * TRUSTED_PART;
}
