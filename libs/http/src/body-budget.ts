import { AppError } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { CountRefusal } from './refusals.ts';

/** Bounds the total memory of the bodies of all requests in flight. */
export interface BodyBudget {
  readonly takenBytes: number;
  /**
   * Opens an empty account for one request. If its body stalls while another one needs the room, the account loses its
   * room, and `giveWay` is called once with the error to answer. When half of the budget is taken, several bodies of
   * one `sender` together get at most a quarter of the budget.
   */
  open(giveWay: (reason: AppError) => void, sender?: string): BodyShare;
}

/** The room that one request holds in a {@link BodyBudget}. */
export interface BodyShare {
  /** Takes room for a piece that has arrived. Throws `service_unavailable` when the budget is used up. */
  take(bytes: number): void;
  /** Notes a piece that has arrived without taking room. */
  pass(bytes: number): void;
  /** Notes that nothing more is awaited: from then on, the body keeps its room, until `keep`, or until more arrives. */
  complete(): void;
  /** Returns all room but that of so many bytes in one piece. From then on, more of the body is awaited. */
  keep(bytes: number): void;
  /** Returns all room and closes the account. Idempotent. */
  giveBack(): void;
}

export interface BodyBudgetOptions {
  budgetBytes: number;
  countRefusal: CountRefusal;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Memory overhead of a piece: a body in pieces of one byte takes hundreds of times its length. */
export const PIECE_OVERHEAD_BYTES = 512;

/** A body has stalled when less than this has arrived within {@link STALLED_MS}. */
const PROGRESS_BYTES = 16 * 1024;
export const STALLED_MS = 1_000;

/**
 * This much of each body may use the whole budget, the rest only three quarters, so that large bodies leave room for
 * small ones.
 */
export const SMALL_BODY_BYTES = 64 * 1024;
const LARGE_BODIES_SHARE = 0.75;
const SENDER_SHARE = 0.25;
/** Share of the budget above which the limit per sender applies. */
const FREE_FOR_ALL_SHARE = 0.5;

interface Account {
  /** Bytes charged to the account. */
  bytes: number;
  arrivedBytes: number;
  sender: string | undefined;
  /** Bytes that arrived since `progressAt`. */
  freshBytes: number;
  progressAt: number;
  closed: boolean;
  giveWay: (reason: AppError) => void;
}

/** Bytes taken by all bodies, and by those of each sender. */
class TakenBytes {
  total = 0;
  readonly #bySender = new Map<string, number>();

  ofSender(sender: string): number {
    return this.#bySender.get(sender) ?? 0;
  }

  charge(account: Account, bytes: number): void {
    this.total += bytes;
    account.bytes += bytes;
    const { sender } = account;
    if (sender === undefined) return;
    const ofSender = this.ofSender(sender) + bytes;
    if (ofSender === 0) this.#bySender.delete(sender);
    else this.#bySender.set(sender, ofSender);
  }
}

/**
 * Only bytes that have arrived count: if announced sizes counted, a few senders of one byte each could keep everybody
 * else out. When the budget is used up, the body that has stalled longest loses its room. If none has stalled, the new
 * piece is refused, so that under honest load the bodies that are furthest get through.
 */
export function createBodyBudget(options: BodyBudgetOptions): BodyBudget {
  const { budgetBytes, countRefusal, now = () => performance.now() } = options;
  const taken = new TakenBytes();
  /** Incomplete bodies; the one longest without progress comes first. */
  const arriving = new Set<Account>();

  function noteProgress(account: Account, bytes: number): void {
    if (account.closed) return;
    account.freshBytes += bytes;
    if (account.freshBytes < PROGRESS_BYTES && arriving.has(account)) return;
    account.freshBytes = 0;
    account.progressAt = now();
    arriving.delete(account);
    arriving.add(account);
  }

  function close(account: Account): void {
    account.closed = true;
    arriving.delete(account);
    taken.charge(account, -account.bytes);
  }

  function hasRoom(account: Account, bytes: number): boolean {
    // The only body is always accepted. So a budget below a route's limit delays requests, but never blocks one
    // permanently.
    if (taken.total === account.bytes) return true;
    const share = account.arrivedBytes > SMALL_BODY_BYTES ? LARGE_BODIES_SHARE : 1;
    return taken.total + bytes <= budgetBytes * share;
  }

  function isOverShare({ sender, bytes: own }: Account, bytes: number): boolean {
    if (sender === undefined || taken.total + bytes <= budgetBytes * FREE_FOR_ALL_SHARE) return false;
    const ofSender = taken.ofSender(sender);
    // A body may be larger than the share, so the only one of its sender is accepted.
    return ofSender > own && ofSender + bytes > budgetBytes * SENDER_SHARE;
  }

  function makeRoom(account: Account, bytes: number): void {
    if (hasRoom(account, bytes)) return;
    const stalledSince = now() - STALLED_MS;
    for (const other of arriving) {
      if (other === account || other.progressAt > stalledSince) return;
      close(other);
      countRefusal('body_stalled');
      other.giveWay(stalled());
      if (hasRoom(account, bytes)) return;
    }
  }

  function take(account: Account, bytes: number): void {
    const charged = bytes + PIECE_OVERHEAD_BYTES;
    noteProgress(account, bytes);
    account.arrivedBytes += bytes;
    const overShare = isOverShare(account, charged);
    if (!overShare) makeRoom(account, charged);
    if (overShare || !hasRoom(account, charged)) {
      countRefusal('body_budget');
      throw full();
    }
    taken.charge(account, charged);
  }

  return {
    get takenBytes() {
      return taken.total;
    },
    open(giveWay, sender) {
      const account: Account = {
        bytes: 0,
        arrivedBytes: 0,
        sender,
        freshBytes: 0,
        progressAt: 0,
        closed: false,
        giveWay,
      };
      return {
        take: (bytes) => take(account, bytes),
        pass: (bytes) => noteProgress(account, bytes),
        complete: () => void arriving.delete(account),
        keep(bytes) {
          noteProgress(account, 0);
          const kept = bytes + PIECE_OVERHEAD_BYTES;
          if (!account.closed && kept < account.bytes) taken.charge(account, kept - account.bytes);
        },
        giveBack: () => close(account),
      };
    },
  };
}

function full(): AppError {
  const message = 'Too many requests are in progress. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}

function stalled(): AppError {
  const message = 'The request body arrived too slowly while memory was short. Send it again.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
}

/** Reports the bytes that a server's budgets hold as `http_server_body_bytes`. */
export function observeBodies(metrics: Metrics, budgets: readonly BodyBudget[]): void {
  metrics.gauge({
    name: 'http_server_body_bytes',
    help: 'Bytes of request bodies in memory',
    collect() {
      this.set(budgets.reduce((sum, { takenBytes }) => sum + takenBytes, 0));
    },
  });
}
