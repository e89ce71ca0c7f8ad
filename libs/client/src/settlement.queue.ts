import type { SettledLease } from './gen/types.gen.ts';
import type { Clock } from './monotonic.clock.ts';
import type { LeaseAccount } from './lease.account.ts';
import type { LeaseSettlement } from './lease.api.ts';
import { TollkeeperError } from './tollkeeper.error.ts';

export interface SettlementQueueDeps {
  /** Sends settlements of a lease. Resolves to one result for each, in their order. */
  send(lease: LeaseAccount, settlements: readonly LeaseSettlement[]): Promise<SettledLease['results']>;
  /** Records a settlement that the lease cannot take in another way. */
  report(lease: LeaseAccount, settlement: LeaseSettlement): Promise<void>;
  clock: Clock;
}

/** The longest time that a settlement exists only in this process, while Tollkeeper answers. */
const LINGER_MS = 100;
/** Tollkeeper's limit. */
const MAX_BATCH = 1_000;
/** A server that is slow answers small requests in time. */
const MIN_BATCH = 50;
/** Requests in flight, each for another lease. */
const MAX_OUT = 4;
const FIRST_DELAY_MS = 200;
const MAX_DELAY_MS = 5_000;

interface Waiting {
  settlement: LeaseSettlement;
  resolve?: () => void;
  reject?: (error: unknown) => void;
}

/** The settlements of one lease. At most one request of them is in flight. */
interface Lane {
  lease: LeaseAccount;
  waiting: Waiting[];
  /** The last one that was added. */
  last: Waiting;
  /** Whether its settlements are to be sent now, or after the request that is in flight. */
  isDue: boolean;
  isBusy: boolean;
  /** Whether it waits after a failure. */
  isPaused: boolean;
  failures: number;
  /** The most settlements of its next request. */
  batchSize: number;
  /** How long Tollkeeper wants it to wait. */
  retryAfterMs: number;
}

/** Sends settlements in batches until they are durable, always with the same ids. */
export class SettlementQueue {
  /** Settlements that wait or are in flight. */
  size = 0;
  readonly #deps: SettlementQueueDeps;
  readonly #lanes = new Map<LeaseAccount, Lane>();
  #out = 0;
  #isTimed = false;
  #loss: { error: unknown } | undefined;
  #givenUp: { reason: unknown } | undefined;

  constructor(deps: SettlementQueueDeps) {
    this.#deps = deps;
  }

  /** Whether settlements of the lease wait or are in flight. */
  has(lease: LeaseAccount): boolean {
    return this.#lanes.has(lease);
  }

  /** Sends the settlement with those of the next 100 ms. */
  add(lease: LeaseAccount, settlement: LeaseSettlement): void {
    const lane = this.#addTo(lease, { settlement });
    if (lane.waiting.length >= MAX_BATCH && !lane.isDue) {
      lane.isDue = true;
      this.#sendDue();
    }
    if (this.#isTimed) return;
    this.#isTimed = true;
    this.#deps.clock.after(LINGER_MS, () => {
      this.#isTimed = false;
      this.#sendAll();
    });
  }

  /** Sends the settlement at once. Resolves when it is durable. */
  addDurable(lease: LeaseAccount, settlement: LeaseSettlement): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#addTo(lease, { settlement, resolve, reject }).isDue = true;
      this.#sendDue();
    });
  }

  /** Resolves when all current settlements are durable. Rejects if one was lost since the last time. */
  async flush(): Promise<void> {
    // Those of a lease are sent in order, so the last one is the last to end.
    const ended = [...this.#lanes.values()].map(({ last }) => new Promise<void>((done) => notify(last, done)));
    this.#sendAll();
    await Promise.all(ended);
    const loss = this.#loss;
    this.#loss = undefined;
    if (loss !== undefined) throw loss.error;
  }

  /** Sends nothing more. What is not durable is lost. */
  giveUp(reason: unknown): void {
    this.#givenUp = { reason };
    for (const lane of this.#lanes.values()) if (!lane.isBusy || lane.isPaused) this.#clear(lane, reason);
  }

  #addTo(lease: LeaseAccount, waiting: Waiting): Lane {
    let lane = this.#lanes.get(lease);
    if (lane === undefined) {
      const state = {
        isDue: false,
        isBusy: false,
        isPaused: false,
        failures: 0,
        batchSize: MAX_BATCH,
        retryAfterMs: 0,
      };
      lane = { lease, waiting: [], last: waiting, ...state };
      this.#lanes.set(lease, lane);
    }
    lane.waiting.push(waiting);
    lane.last = waiting;
    this.size += 1;
    if (this.#givenUp !== undefined) this.#clear(lane, this.#givenUp.reason);
    return lane;
  }

  #sendAll(): void {
    for (const lane of this.#lanes.values()) lane.isDue = true;
    this.#sendDue();
  }

  #sendDue(): void {
    for (const lane of this.#lanes.values()) {
      if (this.#out >= MAX_OUT) return;
      if (lane.isDue && !lane.isBusy) void this.#sendBatch(lane);
    }
  }

  async #sendBatch(lane: Lane): Promise<void> {
    lane.isBusy = true;
    this.#out += 1;
    const batch = lane.waiting.splice(0, lane.batchSize);
    lane.isDue = lane.waiting.length > 0;
    const left = await this.#post(lane, batch);
    this.#out -= 1;
    lane.waiting.unshift(...left);
    const isSent = left.length === 0;
    lane.failures = isSent ? 0 : lane.failures + 1;
    lane.batchSize = isSent
      ? Math.min(MAX_BATCH, lane.batchSize + MIN_BATCH)
      : Math.max(MIN_BATCH, lane.batchSize >> 1);
    if (this.#givenUp !== undefined) return this.#clear(lane, this.#givenUp.reason);
    if (isSent) lane.isBusy = false;
    else this.#pause(lane);
    if (lane.waiting.length === 0) this.#lanes.delete(lane.lease);
    this.#sendDue();
  }

  /** Other leases do not wait for it. */
  #pause(lane: Lane): void {
    lane.isDue = true;
    lane.isPaused = true;
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (lane.failures - 1));
    this.#deps.clock.after(Math.max(delayMs, lane.retryAfterMs), () => {
      lane.isBusy = false;
      lane.isPaused = false;
      this.#sendDue();
    });
  }

  /** Resolves to those that are to be sent again. */
  async #post(lane: Lane, batch: Waiting[]): Promise<Waiting[]> {
    const settlements = batch.map(({ settlement }) => settlement);
    try {
      const results = await this.#deps.send(lane.lease, settlements);
      for (const [index, waiting] of batch.entries()) {
        this.#end(waiting, results[index]?.outcome === 'conflict' ? conflictOf(waiting.settlement) : undefined);
      }
    } catch (error) {
      if (!isRefusal(error)) {
        lane.retryAfterMs = error instanceof TollkeeperError ? (error.retryAfterMs ?? 0) : 0;
        return batch;
      }
      if (batch.length > 1) {
        // A batch is refused as a whole. Halving it keeps one settlement from affecting the others.
        const half = batch.length >> 1;
        return [...(await this.#post(lane, batch.slice(0, half))), ...(await this.#post(lane, batch.slice(half)))];
      }
      await this.#reportInstead(lane.lease, batch[0]!);
    }
    return [];
  }

  async #reportInstead(lease: LeaseAccount, waiting: Waiting): Promise<void> {
    try {
      await this.#deps.report(lease, waiting.settlement);
      this.#end(waiting);
    } catch (error) {
      this.#end(waiting, error);
    }
  }

  #clear(lane: Lane, reason: unknown): void {
    this.#lanes.delete(lane.lease);
    for (const waiting of lane.waiting.splice(0)) this.#end(waiting, reason);
  }

  #end({ resolve, reject }: Waiting, failure?: unknown): void {
    this.size -= 1;
    if (failure === undefined) {
      resolve?.();
      return;
    }
    this.#loss ??= { error: failure };
    reject?.(failure);
  }
}

/** Calls back when the settlement has ended. */
function notify(waiting: Waiting, done: () => void): void {
  const { resolve, reject } = waiting;
  waiting.resolve = () => {
    resolve?.();
    done();
  };
  waiting.reject = (error) => {
    reject?.(error);
    done();
  };
}

function conflictOf({ settlement_id }: LeaseSettlement): TollkeeperError {
  const message = `The settlementId ${settlement_id} is that of another call, so nothing was counted. Settle with another one.`;
  return new TollkeeperError(message, { code: 'conflict' });
}

/** Whether sending the same again cannot help. */
function isRefusal(error: unknown): boolean {
  return error instanceof TollkeeperError && [400, 404, 409, 413].includes(error.status ?? 0);
}
