import { AppError } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';
import type { CountRefusal } from './refusals.ts';

/** Bounds the memory that the bodies of all requests in flight take together. */
export interface BodyBudget {
  readonly takenBytes: number;
  /**
   * Opens the account of one request, with nothing on it. `giveWay` is called at most once, with the error to answer,
   * when the body has stalled and another needs its room, which is taken from it at the same time. Once half of the
   * budget is taken, the bodies of one `sender` get no more than a quarter of it together.
   */
  open(giveWay: (reason: AppError) => void, sender?: string): BodyShare;
}

/** What one request holds of a {@link BodyBudget}. */
export interface BodyShare {
  /** Takes room for a piece that has arrived. Throws `service_unavailable` when the budget is used up. */
  take(bytes: number): void;
  /** Notes a piece that has arrived and takes no room here. */
  pass(bytes: number): void;
  /** Notes that the body is there: it keeps its room and gives way to nobody any more. */
  complete(): void;
  /** Gives back all that was taken, and closes the account. May be called again. */
  giveBack(): void;
}

export interface BodyBudgetOptions {
  budgetBytes: number;
  countRefusal: CountRefusal;
  /** Monotonic milliseconds. */
  now?: () => number;
}

/** Memory that a piece takes beside its bytes: a body in pieces of one byte takes a hundred times its length. */
export const PIECE_OVERHEAD_BYTES = 512;

/** A body stalls when less than this has come of it for {@link STALLED_MS}. */
const PROGRESS_BYTES = 16 * 1024;
export const STALLED_MS = 1_000;

/**
 * Of each body, this much may use all of the budget, the rest only three quarters: large ones leave room for small
 * ones.
 */
export const SMALL_BODY_BYTES = 64 * 1024;
const LARGE_BODIES_SHARE = 0.75;
const SENDER_SHARE = 0.25;
/** Part of the budget above which each sender gets at most its share. */
const FREE_FOR_ALL_SHARE = 0.5;

interface Account {
  /** Charged for it. */
  bytes: number;
  arrivedBytes: number;
  sender: string | undefined;
  /** Arrived since `progressAt`. */
  freshBytes: number;
  progressAt: number;
  closed: boolean;
  giveWay: (reason: AppError) => void;
}

/** What all bodies take, and those of each sender. */
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
 * Only what has arrived counts: were the announced size taken ahead, a few senders of one byte each would keep
 * everybody else out. When the budget is used up, the body that has stalled longest gives way; if none has, the
 * newcomer is refused, so that under honest load those that have come furthest get through.
 */
export function createBodyBudget(options: BodyBudgetOptions): BodyBudget {
  const { budgetBytes, countRefusal, now = () => performance.now() } = options;
  const taken = new TakenBytes();
  /** Bodies that are not all there, the one longest without progress first. */
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
    // The only body is always accepted. So a budget below a route's limit delays requests and never blocks one for
    // good.
    if (taken.total === account.bytes) return true;
    const share = account.arrivedBytes > SMALL_BODY_BYTES ? LARGE_BODIES_SHARE : 1;
    return taken.total + bytes <= budgetBytes * share;
  }

  function isOverShare({ sender }: Account, bytes: number): boolean {
    if (sender === undefined || taken.total + bytes <= budgetBytes * FREE_FOR_ALL_SHARE) return false;
    return taken.ofSender(sender) + bytes > budgetBytes * SENDER_SHARE;
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

/** Shows in `http_server_body_bytes` what a server's budgets hold. */
export function observeBodies(metrics: Metrics, budgets: readonly BodyBudget[]): void {
  metrics.gauge({
    name: 'http_server_body_bytes',
    help: 'Bytes of the bodies of requests in progress',
    collect() {
      this.set(budgets.reduce((sum, { takenBytes }) => sum + takenBytes, 0));
    },
  });
}
