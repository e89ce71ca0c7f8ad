import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Ask, LongRead } from '../domain/decision.ts';
import type { LedgerState } from '../domain/ledger.state.ts';
import { inexactSince, type Metering } from '../domain/metering.ts';
import type { JournalStore } from '../store/journal.store.ts';
import { createHoldTimer } from './hold.timer.ts';
import { createLedgerReplica, type LedgerReplicaDeps } from './ledger.replica.ts';
import { createLedgerTurns, type LedgerTurnsDeps } from './ledger.turn.ts';
import type { Waiting } from './waiting.requests.ts';

/** Maximum weight of the requests decided together, and so in one journal entry. */
const MAX_BATCH = 1_000;
/** Bytes of names of accounts that weigh as much as a request: the names of 1,000 requests have far below 16 MiB. */
const WEIGHT_BYTES = 500;
/** Maximum number of waiting requests of a workspace. Others are refused at once. */
const MAX_WAITING = 5_000;

export interface WorkspaceLedgerDeps extends LedgerReplicaDeps, LedgerTurnsDeps {
  journal: JournalStore;
  /** Called after turns that leave meters to be filled. */
  onInexact: (tenantId: TenantId) => void;
}

/** The ledger of a workspace in this replica, with its queue of requests. */
export interface WorkspaceLedger {
  /**
   * Decides the request, together with others that wait. Resolves once its ops are durable. Rejects with its refusal,
   * or with an error of MongoDB: then the ops may or may not be in the journal.
   */
  submit<Answer>(ask: Ask<Answer> | LongRead<Answer>): Promise<Answer>;
  /** Ends holds past their time. */
  endDueHolds(): Promise<void>;
  /** Writes a snapshot if the last one is outdated. */
  saveSnapshot(): Promise<void>;
  /**
   * Writes a snapshot and leaves memory after the turn in progress. The next request loads the ledger again. If writing
   * fails, it rejects and the ledger stays in memory.
   */
  letGo(): Promise<void>;
  /** Whether no request is waiting or being decided. */
  readonly isIdle: boolean;
  /** What is in memory, for reading only; undefined before the first request. */
  readonly loaded: Pick<LedgerState, 'holdCount' | 'leases' | 'metering'> | undefined;
}

/**
 * Any replica may serve any workspace at any time. Each keeps its ledgers in memory, decides on a draft, and appends
 * the result as the next entry of the journal. If another replica was first, it reads that entry and decides again. So
 * a decision only counts if it was made on the whole journal before it.
 */
export function createWorkspaceLedger(tenantId: TenantId, deps: WorkspaceLedgerDeps): WorkspaceLedger {
  const { memory, metrics, clock } = deps;
  const holds = createHoldTimer();
  const replica = createLedgerReplica(tenantId, holds, deps);
  const turns = createLedgerTurns(tenantId, replica, holds, deps);
  const queue: Waiting[] = [];
  /** Callers of `letGo`. */
  const leaving: PromiseWithResolvers<void>[] = [];
  /** Number of queued requests that are not from the log. */
  let asking = 0;
  let isRunning = false;
  let isDeciding = false;
  const noteMetering = createMeteringWatch(() => deps.onInexact(tenantId));

  /** Runs between two turns, so that no decision is in progress on the ledger. */
  async function leave(): Promise<void> {
    const waiting = leaving.splice(0);
    try {
      await replica.leave();
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0 || leaving.length > 0) {
      if (leaving.length > 0) {
        await leave();
        continue;
      }
      const batch = queue.splice(0, batchSize(queue));
      isDeciding = true;
      for (const { ask } of batch) if (ask.isFromLog !== true) asking -= 1;
      try {
        await turns.take(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      isDeciding = false;
      memory.holds(tenantId, replica.ledger?.bytes ?? 0);
      noteMetering(replica.ledger?.metering);
      metrics.turnEnded(performance.now() - batch[0]!.since);
      if (queue.length > 0) await turns.letOthersPass();
    }
    isRunning = false;
  }

  function submit<Answer>(ask: Ask<Answer> | LongRead<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      if (ask.isFromLog !== true && asking >= MAX_WAITING) {
        const message = 'Too many requests of this workspace are waiting. Try again shortly.';
        reject(new AppError('service_unavailable', message, { retryAfterSeconds: 1 }));
        return;
      }
      if (ask.isFromLog !== true) asking += 1;
      queue.push({ ask, since: performance.now(), resolve: resolve as (answer: unknown) => void, reject });
      wake();
    });
  }

  /** Requests that arrive in the same turn of the event loop are decided together. */
  function wake(): void {
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => void run());
  }

  return {
    submit,
    async endDueHolds() {
      if (holds.isDue(clock())) await submit({ decide: () => ({ ops: [], answer: null }) });
    },
    saveSnapshot: replica.saveSnapshot,
    letGo() {
      const left = Promise.withResolvers<void>();
      leaving.push(left);
      wake();
      return left.promise;
    },
    get isIdle() {
      return queue.length === 0 && !isDeciding;
    },
    get loaded() {
      return replica.ledger;
    },
  };
}

/** Calls `onInexact` for each state of the meters in which some are to be filled. */
function createMeteringWatch(onInexact: () => void): (metering: Metering | undefined) => void {
  let noted: Metering | undefined;
  return (metering) => {
    if (metering === undefined || metering === noted) return;
    noted = metering;
    if (inexactSince(metering) !== null) onInexact();
  };
}

/** The number of requests at the head of the queue to decide together; at least one. */
function batchSize(queue: readonly Waiting[]): number {
  let weight = 0;
  for (let size = 0; size < queue.length; size += 1) {
    weight += weightOf(queue[size]!.ask);
    if (weight > MAX_BATCH) return Math.max(size, 1);
  }
  return queue.length;
}

/** A grant names each account of a budget in which it counts. A character has up to 3 bytes. */
function weightOf({ limits = [], weight = 1 }: Waiting['ask']): number {
  let bytes = 0;
  for (const { budget } of limits) if (budget !== undefined) bytes += 50 + budget.value.length * 3;
  return weight + Math.floor(bytes / WEIGHT_BYTES);
}
