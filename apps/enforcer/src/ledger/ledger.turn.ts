import { setTimeout as delay } from 'node:timers/promises';
import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { dayToOpen, findDay } from '../domain/day.ts';
import { keysOf, type Op, type PlacedOp } from '../domain/journal.ts';
import { applyOp, type Ledger } from '../domain/ledger.ts';
import { createDraft } from '../domain/ledger.state.ts';
import type { JournalStore } from '../store/journal.store.ts';
import { type HoldTimer, MAX_DUE } from './hold.timer.ts';
import type { LedgerMetrics } from './ledger.metrics.ts';
import type { LedgerReplica } from './ledger.replica.ts';
import { createMeterAgreement } from './meter.agreement.ts';
import { decideAll, dropLate, type Waiting } from './waiting.requests.ts';

/** How long to decide a batch again when other replicas were first or more must be looked up. */
const GIVE_UP_MS = 5_000;
/**
 * After appending an entry, a replica could append the next before any other replica has read the first. So it pauses
 * to let others go first: after each turn if it met others within `seenMs`, otherwise once per `seenMs` to find out if
 * there are any.
 */
const LET_PASS = { pauseMs: 8, seenMs: 250 };

export interface LedgerTurnsDeps {
  journal: Pick<JournalStore, 'append' | 'find'>;
  /** The current IANA zone of the workspace, needed when a day begins. */
  timezoneOf(tenantId: TenantId): Promise<string>;
  metrics: LedgerMetrics;
  clock: Clock;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

/** The turns of a replica on the journal of a workspace, one at a time. */
export interface LedgerTurns {
  /** Decides the requests on a draft and appends the result, and repeats this if another replica was first. */
  take(batch: readonly Waiting[]): Promise<void>;
  /** Call it between two turns. */
  letOthersPass(): Promise<void>;
}

export function createLedgerTurns(
  tenantId: TenantId,
  replica: LedgerReplica,
  holds: HoldTimer,
  deps: LedgerTurnsDeps,
): LedgerTurns {
  const { journal, metrics, clock } = deps;
  const agreement = createMeterAgreement(deps.now);
  /** When another replica was last first, and when the last pause was, by `performance.now()`. */
  let othersSeenAt = -Infinity;
  let letPassAt = -Infinity;

  async function take(batch: readonly Waiting[]): Promise<void> {
    let waiting = batch;
    const on = await replica.load();
    const known = new Map<string, PlacedOp | null>();
    let [isNewest, mayBegin] = [false, true];

    const lookUp = async (keys: readonly string[]): Promise<void> => {
      const found = await journal.find(tenantId, keys);
      for (const key of keys) known.set(key, found.get(key) ?? null);
    };
    const readNewest = async (): Promise<void> => {
      await replica.catchUp(on);
      isNewest = true;
    };

    const startedAt = performance.now();
    while (performance.now() - startedAt < GIVE_UP_MS) {
      waiting = dropLate(waiting);
      const now = clock();
      const draft = createDraft(on);
      const due = holds.takeDue(draft, now);
      try {
        // If there may be more due holds, these are ended first, so that no decision counts an expired hold.
        const requests = due.length === MAX_DUE ? [] : waiting;
        const seq = replica.seq + 1;
        const ops: Op[] = [...due, ...(await openDays(tenantId, draft, requests, now, deps))];
        const agreed = agreement.agree(on, draft, requests, { seq, now, mayBegin });
        ops.push(...agreed.ops);
        const isOfAll = requests === waiting;
        if (isOfAll) waiting = agreed.waiting;
        // Very many adopted reservations are an entry of their own. Further ones wait for the next turn, and not the
        // requests for them.
        const isOfItsOwn = agreed.ops.length > MAX_DUE;
        const toDecide = isOfAll && !isOfItsOwn ? waiting : [];
        const decided = await decideAll(toDecide, draft, ops, { tenantId, now, seq, isNewest, known });
        if ('needs' in decided) {
          if (decided.keys.length > 0) await lookUp(decided.keys);
          await readNewest();
          continue;
        }
        const outcome =
          ops.length === 0 ? 'added' : await journal.append(tenantId, { seq, at: now, ops }, decided.audited);
        if (outcome === 'added') {
          if (ops.length > 0) replica.commit(on, ops, now);
          agreed.committed();
          mayBegin &&= !isOfItsOwn;
          due.length = 0;
          for (const settle of decided.settle) settle();
          if (toDecide === waiting) return;
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
        holds.putBack(due);
      }
    }
    throw new AppError('service_unavailable', 'Too many replicas are changing this workspace. Try again shortly.', {
      retryAfterSeconds: 1,
    });
  }

  async function letOthersPass(): Promise<void> {
    const { pauseMs, seenMs } = LET_PASS;
    const now = performance.now();
    if (now - othersSeenAt >= seenMs && now - letPassAt < seenMs) return;
    letPassAt = now;
    await delay(pauseMs);
  }

  return { take, letOthersPass };
}

/** The ops that open the running day and the days of the requests. */
async function openDays(
  tenantId: TenantId,
  draft: Ledger,
  batch: readonly Waiting[],
  now: number,
  deps: Pick<LedgerTurnsDeps, 'timezoneOf'>,
): Promise<Op[]> {
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
