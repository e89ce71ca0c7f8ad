/** What budgets see of the calls of a lease. */
export interface LeaseFacts {
  agent_id: string;
  plan_key: string | undefined;
  model: string | undefined;
  provider: string | undefined;
  labels: Record<string, string> | undefined;
}

/** Local holds end in steps of this length, so that they need no list and no timers. */
const STEP_MS = 10_000;

/** A lease as Tollkeeper granted it. */
export interface LeaseGrant {
  id: string;
  facts: LeaseFacts;
  amountMicros: number;
  /** Nothing is granted from it afterwards. By the monotonic clock of this process. */
  endsAt: number;
}

/**
 * What this process has granted from a lease. `used + held ≤ amount` after each hold. Settlements may exceed their
 * holds, and then less than nothing is free.
 */
export class LeaseAccount {
  readonly id: string;
  readonly facts: LeaseFacts;
  amountMicros: number;
  endsAt: number;
  /** Settled by calls of this process, whether Tollkeeper has the settlements yet or not. */
  usedMicros = 0;
  heldMicros = 0;
  /** False once Tollkeeper says that the lease has ended. */
  isOpen = true;
  /** Whether Tollkeeper lets it last no longer, such as at the end of a day. */
  isFinal = false;
  /** Held amounts by the step in which they expire. */
  readonly #expiring = new Map<number, number>();
  #expiredSteps = -1;

  constructor({ id, facts, amountMicros, endsAt }: LeaseGrant) {
    this.id = id;
    this.facts = facts;
    this.amountMicros = amountMicros;
    this.endsAt = endsAt;
  }

  get freeMicros(): number {
    return this.amountMicros - this.usedMicros - this.heldMicros;
  }

  /** Whether a call may be granted from it now. */
  covers(amountMicros: number, now: number): boolean {
    return this.isOpen && now < this.endsAt && amountMicros <= this.freeMicros;
  }

  /** Holds the amount until a time, or up to {@link STEP_MS} longer. Returns the step in which it expires. */
  hold(amountMicros: number, until: number): number {
    const step = Math.ceil(until / STEP_MS);
    this.heldMicros += amountMicros;
    this.#expiring.set(step, (this.#expiring.get(step) ?? 0) + amountMicros);
    return step;
  }

  /** Ends a hold, once. False if it has expired. */
  free(amountMicros: number, step: number): boolean {
    if (step <= this.#expiredSteps) return false;
    this.heldMicros -= amountMicros;
    this.#expiring.set(step, (this.#expiring.get(step) ?? 0) - amountMicros);
    return true;
  }

  /** Ends the holds of calls that were neither settled nor released in their time. */
  expire(now: number): void {
    const over = Math.floor(now / STEP_MS);
    for (const [step, amountMicros] of this.#expiring) {
      if (step > over) continue;
      this.heldMicros -= amountMicros;
      this.#expiring.delete(step);
    }
    this.#expiredSteps = Math.max(this.#expiredSteps, over);
  }
}
