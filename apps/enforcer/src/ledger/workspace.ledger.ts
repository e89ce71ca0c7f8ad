import { setTimeout as delay } from 'node:timers/promises';
import { AppError, type Clock, startSlices, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import TinyQueue from 'tinyqueue';
import { tookTooLong } from '../domain/answer.time.ts';
import { dayToOpen, findDay } from '../domain/day.ts';
import type { Ask, Audited, Context, Decided } from '../domain/decision.ts';
import { keysOf, type Op, type OpOf } from '../domain/journal.ts';
import { applyOp, type Ledger } from '../domain/ledger.ts';
import { createDraft, type LedgerState } from '../domain/ledger.state.ts';
import type { JournalStore } from '../store/journal.store.ts';
import type { SnapshotStore } from '../store/snapshot.store.ts';
import type { LedgerMemory } from './ledger.memory.ts';
import type { LedgerMetrics } from './ledger.metrics.ts';

/** Most requests that are decided together, and so most of a workspace's that one entry of its journal has. */
const MAX_BATCH = 1_000;
/** Most requests of a workspace that wait. Those beyond it are refused at once. */
const MAX_WAITING = 5_000;
/** Most holds that one entry ends. */
const MAX_DUE = 2_000;
/** Most former ends of holds that are kept, beside as many as there are holds. */
const MAX_FORMER_ENDS = 1_000;
/** How long a batch is decided anew because other replicas were first, or more has to be looked up. */
const GIVE_UP_MS = 5_000;
/**
 * A replica that has just written an entry can write the next one before any other has read the first. So it lets
 * others pass for a moment: after each of its turns while it has met others within `seenMs`, and else once in that time
 * to see whether there are any.
 */
const LET_PASS = { pauseMs: 8, seenMs: 250 };
/**
 * A snapshot is written after so many entries that have an op for each second hold and each eighth account, so that it
 * costs little beside them, and after so much time when there is any entry.
 */
const SNAPSHOT_ENTRIES = 256;
const SNAPSHOT_MS = 3_600_000;

export interface WorkspaceLedgerDeps {
  journal: JournalStore;
  snapshots: SnapshotStore;
  /** The IANA zone of the workspace. Asked when a day begins. */
  timezoneOf(tenantId: TenantId): Promise<string>;
  memory: LedgerMemory;
  metrics: LedgerMetrics;
  clock: Clock;
  logger: Logger;
}

/** The ledger of a workspace as this replica has it, and the requests that wait for it. */
export interface WorkspaceLedger {
  /**
   * Decides the request, together with the others that wait. Resolves once its ops are durable. Rejects with its
   * refusal, and with what went wrong with MongoDB: then the ops may or may not be in the journal.
   */
  submit<Answer>(ask: Ask<Answer>): Promise<Answer>;
  /** Ends holds that are past their time. */
  endDueHolds(): Promise<void>;
  /** Writes a snapshot if there is anything that the last one has not. */
  saveSnapshot(): Promise<void>;
  /**
   * Writes a snapshot and leaves memory, after the turn in progress. The next request loads it again. Rejects if
   * the snapshot could not be written; it stays in memory then.
   */
  letGo(): Promise<void>;
  /** Whether no request waits or is being decided. */
  readonly isIdle: boolean;
  readonly openReservations: number;
}

interface Waiting {
  ask: Ask<unknown>;
  /** By `performance.now()`. */
  since: number;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/**
 * Any replica may serve any workspace at any time. Each keeps the ledgers that it works on in memory, decides on a
 * draft, and appends what was decided as the next entry of the journal. If another replica was first, it reads that
 * entry and decides again. So a decision counts only if it was made on the whole journal before it.
 */
export function createWorkspaceLedger(tenantId: TenantId, deps: WorkspaceLedgerDeps): WorkspaceLedger {
  const { journal, snapshots, memory, metrics, clock, logger } = deps;
  const queue: Waiting[] = [];
  /** Those who wait for it to leave memory. */
  const leaving: PromiseWithResolvers<void>[] = [];
  /** The holds by their end. A hold that was extended or ended may still be in it with a former end. */
  const ends = new TinyQueue<{ id: string; at: number }>([], (a, b) => a.at - b.at);
  let ledger: LedgerState | undefined;
  let seq = 0;
  /** How many ops of the journal have been applied. */
  let applied = 0;
  let saved = { seq: 0, at: clock(), applied };
  let saving: Promise<void> | undefined;
  /** How many of the queue are not of the log. */
  let asking = 0;
  let isRunning = false;
  let isDeciding = false;
  /** When another replica was first, and when others were let pass. By `performance.now()`. */
  let othersSeenAt = -Infinity;
  let letPassAt = -Infinity;

  function note(op: Op, on: LedgerState): void {
    applied += 1;
    if (op.op !== 'grant' && op.op !== 'extend') return;
    ends.push({ id: op.id, at: op.expiresAt });
    // A hold that is extended again and again must not fill the memory with its former ends.
    if (ends.length > 2 * on.holdCount + MAX_FORMER_ENDS) listEnds(on);
  }

  function listEnds(of: LedgerState): void {
    ends.data = [...of.holds()].map(({ id, expiresAt }) => ({ id, at: expiresAt })).sort((a, b) => a.at - b.at);
    ends.length = ends.data.length;
  }

  async function load(): Promise<LedgerState> {
    if (ledger !== undefined) return ledger;
    const entered = await memory.enter(tenantId, await snapshots.bytesOf(tenantId));
    try {
      ledger = await restore();
      return ledger;
    } finally {
      entered();
    }
  }

  async function restore(): Promise<LedgerState> {
    const snapshot = await snapshots.load(tenantId);
    const { ledger: loaded, unreadable: err } = snapshot;
    if (err !== undefined) {
      metrics.unreadable('snapshot');
      logger.error(
        { err, tenant_id: tenantId },
        'a snapshot is not readable; its ledger is made from the journal alone',
      );
    }
    seq = err === undefined ? snapshot.seq : 0;
    saved = { seq, at: clock(), applied };
    listEnds(loaded);
    await catchUp(loaded);
    // The entries up to an unreadable snapshot may all have gone. The next one still comes behind them.
    seq = Math.max(seq, snapshot.seq);
    return loaded;
  }

  /** Applies what other replicas have written. Between two entries others have their turns. */
  async function catchUp(to: LedgerState): Promise<void> {
    const slices = startSlices();
    for await (const entry of journal.readAfter(tenantId, seq)) {
      try {
        for (const op of entry.ops) {
          applyOp(to, op);
          note(op, to);
        }
      } catch (error) {
        // It has a part of the entry, which would count again at the next reading.
        ledger = undefined;
        metrics.unreadable('entry');
        throw new Error(`Entry ${entry.seq} of the journal of ${tenantId} cannot be read`, { cause: error });
      }
      ({ seq } = entry);
      if (slices.usedUp()) await slices.next();
    }
  }

  /** The ops that end holds which are past their time. They stay in the queue until the journal has them. */
  function dueOps(draft: Ledger, now: number): OpOf<'expire'>[] {
    const ops: OpOf<'expire'>[] = [];
    for (let next = ends.peek(); next !== undefined && next.at <= now; next = ends.peek()) {
      if (ops.length === MAX_DUE) return ops;
      ends.pop();
      const hold = draft.hold(next.id);
      if (hold === undefined || hold.expiresAt > now) continue;
      const op: OpOf<'expire'> = { op: 'expire', id: hold.id, expiresAt: hold.expiresAt };
      applyOp(draft, op);
      ops.push(op);
    }
    return ops;
  }

  /** The ops that open the running day, and the days of the requests. */
  async function dayOps(draft: Ledger, batch: readonly Waiting[], now: number): Promise<Op[]> {
    const ops: Op[] = [];
    let timezone: string | undefined;
    for (const at of [now, ...batch.flatMap(({ ask }) => ask.at ?? [])]) {
      if (findDay(draft, at) !== undefined) continue;
      timezone ??= await deps.timezoneOf(tenantId).catch((error: unknown) => {
        const last = draft.days.at(-1)?.timezone;
        if (last === undefined) throw error;
        return last;
      });
      const op: Op = { op: 'day', ...dayToOpen(draft, at, timezone) };
      applyOp(draft, op);
      ops.push(op);
    }
    return ops;
  }

  async function turn(batch: readonly Waiting[]): Promise<void> {
    let waiting = batch;
    const on = await load();
    const known = new Map<string, Op | null>();
    let isNewest = false;

    const lookUp = async (keys: readonly string[]): Promise<void> => {
      const found = await journal.find(tenantId, keys);
      for (const key of keys) known.set(key, found.get(key) ?? null);
    };
    const readNewest = async (): Promise<void> => {
      await catchUp(on);
      isNewest = true;
    };

    const startedAt = performance.now();
    while (performance.now() - startedAt < GIVE_UP_MS) {
      waiting = dropLate(waiting);
      const now = clock();
      const draft = createDraft(on);
      const due = dueOps(draft, now);
      try {
        // If there may be more of them, these are written first, so that a decision never counts what has expired.
        const requests = due.length === MAX_DUE ? [] : waiting;
        const ops: Op[] = [...due, ...(await dayOps(draft, requests, now))];
        const decided = await decideAll(requests, draft, ops, { tenantId, now, isNewest, known });
        if ('needs' in decided) {
          if (decided.keys.length > 0) await lookUp(decided.keys);
          await readNewest();
          continue;
        }
        const outcome =
          ops.length === 0 ? 'added' : await journal.append(tenantId, { seq: seq + 1, at: now, ops }, decided.audited);
        if (outcome === 'added') {
          if (ops.length > 0) commit(on, ops, now);
          due.length = 0;
          for (const settle of decided.settle) settle();
          if (requests === waiting) return;
          continue;
        }
        if (outcome === 'behind') {
          othersSeenAt = performance.now();
          metrics.lostRace();
        } else {
          await lookUp(ops.flatMap(keysOf));
        }
        await readNewest();
      } finally {
        for (const { id, expiresAt } of due) ends.push({ id, at: expiresAt });
      }
    }
    throw new AppError('service_unavailable', 'Too many replicas work on this workspace. Try again shortly.', {
      retryAfterSeconds: 1,
    });
  }

  function commit(on: LedgerState, ops: readonly Op[], now: number): void {
    seq += 1;
    for (const op of ops) {
      metrics.committed(on, op);
      applyOp(on, op);
      note(op, on);
    }
    const isLong =
      seq - saved.seq >= SNAPSHOT_ENTRIES && applied - saved.applied >= on.holdCount / 2 + on.accountTotal / 8;
    if (saving === undefined && (isLong || now - saved.at >= SNAPSHOT_MS)) {
      saveSnapshot().catch((err: unknown) => logger.warn({ err, tenant_id: tenantId }, 'a snapshot was not written'));
    }
  }

  async function saveSnapshot(): Promise<void> {
    while (saving !== undefined) await saving.catch(() => undefined);
    if (ledger === undefined || seq === saved.seq) return;
    saving = save(ledger).finally(() => {
      saving = undefined;
    });
    await saving;
  }

  async function save(on: LedgerState): Promise<void> {
    const before = saved;
    saved = { seq, at: clock(), applied };
    try {
      await snapshots.save(tenantId, { seq, ledger: on });
    } catch (error) {
      saved = before;
      throw error;
    }
  }

  /** Between two turns, so that no decision is in progress on what leaves. */
  async function leave(): Promise<void> {
    const waiting = leaving.splice(0);
    try {
      await saveSnapshot();
      ledger = undefined;
      ends.data = [];
      ends.length = 0;
      memory.holds(tenantId, 0);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  async function letOthersPass(): Promise<void> {
    const { pauseMs, seenMs } = LET_PASS;
    const now = performance.now();
    if (now - othersSeenAt >= seenMs && now - letPassAt < seenMs) return;
    letPassAt = now;
    await delay(pauseMs);
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (queue.length > 0 || leaving.length > 0) {
      if (leaving.length > 0) {
        await leave();
        continue;
      }
      const batch = queue.splice(0, MAX_BATCH);
      isDeciding = true;
      for (const { ask } of batch) if (ask.isFromLog !== true) asking -= 1;
      try {
        await turn(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
      isDeciding = false;
      memory.holds(tenantId, ledger?.bytes ?? 0);
      metrics.turnEnded(performance.now() - batch[0]!.since);
      if (queue.length > 0) await letOthersPass();
    }
    isRunning = false;
  }

  function submit<Answer>(ask: Ask<Answer>): Promise<Answer> {
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
      const next = ends.peek();
      if (next !== undefined && next.at <= clock()) await submit({ decide: () => ({ ops: [], answer: null }) });
    },
    saveSnapshot,
    letGo() {
      const left = Promise.withResolvers<void>();
      leaving.push(left);
      wake();
      return left.promise;
    },
    get isIdle() {
      return queue.length === 0 && !isDeciding;
    },
    get openReservations() {
      return ledger?.holdCount ?? 0;
    },
  };
}

type AllDecided = { settle: (() => void)[]; audited: Audited[] } | { needs: true; keys: string[] };

/** Decides all requests on the draft, in their order and in slices. Adds their ops to `ops`. */
async function decideAll(
  batch: readonly Waiting[],
  draft: Ledger,
  ops: Op[],
  given: Omit<Context, 'find'> & { known: ReadonlyMap<string, Op | null> },
): Promise<AllDecided> {
  const { known, ...facts } = given;
  /** The journal does not have these yet, and two requests of a batch may be the same. */
  const drafted = new Map(ops.flatMap((op) => keysOf(op).map((key) => [key, op] as const)));
  const context: Context = { ...facts, find: (key) => drafted.get(key) ?? known.get(key) };
  const settle: (() => void)[] = [];
  const audited: Audited[] = [];
  const keys = new Set<string>();
  let needs = false;

  const slices = startSlices();
  for (const { ask, resolve, reject } of batch) {
    if (slices.usedUp()) await slices.next();
    const decided = decide(ask, draft, context);
    if ('needs' in decided) {
      needs = true;
      for (const key of decided.needs.keys ?? []) keys.add(key);
    } else if ('refusal' in decided) {
      settle.push(() => reject(decided.refusal));
    } else {
      settle.push(() => resolve(decided.answer));
      if (decided.audited !== undefined) audited.push(decided.audited);
      for (const op of decided.ops) {
        ops.push(op);
        for (const key of keysOf(op)) drafted.set(key, op);
      }
    }
  }
  return needs ? { needs, keys: [...keys] } : { settle, audited };
}

/** Rejects the requests that nobody waits for any more. Answers the others. */
function dropLate(waiting: readonly Waiting[]): readonly Waiting[] {
  const now = performance.now();
  const isLate = ({ ask }: Waiting) => ask.deadline !== undefined && ask.deadline <= now;
  if (!waiting.some(isLate)) return waiting;
  for (const { reject } of waiting.filter(isLate)) reject(tookTooLong());
  return waiting.filter((request) => !isLate(request));
}

/** A request that fails must not stop those that are decided with it. */
function decide(ask: Ask<unknown>, draft: Ledger, context: Context): Decided<unknown> | { refusal: unknown } {
  try {
    return ask.decide(draft, context);
  } catch (error) {
    return { refusal: error };
  }
}
