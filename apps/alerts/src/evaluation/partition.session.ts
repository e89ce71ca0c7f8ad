import type { RecordBatch } from '@tollkeeper/event-log';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { BudgetTermsBook } from '../domain/budget.terms.ts';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision, Outcome } from '../domain/evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import { type AlertTraces, type EvaluationRecorder, sizeOfDecision } from '../store/evaluation.recorder.ts';
import { createPartitionWindows } from './partition.windows.ts';
import type { RuleWatcher } from './rule.watcher.ts';
import type { WindowMemory } from './window.memory.ts';

/** Approximate size of a save: a transaction must fit into the store's cache and time limit. */
const MAX_PENDING_DOCUMENTS = 2000;
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
/** While the partition is read to its end. If no further batch comes, the loop saves. */
const SAVE_INTERVAL_MS = 1000;
/**
 * While there is more to read, which has priority: saving takes about a tenth of the time at most. After a crash, the
 * events of that time are read again.
 */
const MIN_BUSY_SAVE_INTERVAL_MS = 5000;
const BUSY_SAVE_INTERVAL_BY_DURATION = 10;

/** The evaluation of one partition since its takeover. */
export interface PartitionSession {
  /** The position at which the next batch must start. */
  readonly position: number | null;
  /** Whether it is time to save: something was decided, or the save interval has passed. */
  readonly saveDue: boolean;
  /** Whether to save before anything else is evaluated, even in mid-batch. */
  readonly full: boolean;
  /** The unsaved progress. */
  readonly pending: Readonly<Pending>;
  /** Whether the last batch reached the end of the partition; null before the first batch. */
  readonly atEnd: boolean | null;
  /** Whether the next event of the workspace can be evaluated now. */
  isReady(tenantId: TenantId): boolean;
  /** Reads the windows of the first of these workspaces, and of the next ones that are not ready. */
  prepare(tenantIds: Iterable<TenantId>): Promise<void>;
  /** Evaluates the next counted event of a batch. False if the event is skipped: its workspace is set aside. */
  evaluate(event: CountableEvent, offset: number): boolean;
  /** Call when all events of the batch that rules count are evaluated. */
  finish(batch: RecordBatch): void;
  /** Stores position, windows and decisions. After a rejection, close the session: what was stored is unknown. */
  save(traces: AlertTraces): Promise<void>;
  /** Resumes workspaces that were set aside and now fit into memory. */
  takeBack(): Promise<void>;
  /** Frees the memory of the session. */
  close(): void;
}

/** Progress since the last save. */
interface Pending {
  /** Number of evaluated events. */
  events: number;
  /** Offset of the last of them. */
  lastOffset: number;
  /** How often rules fired and how often they were suppressed. */
  outcomes: Record<Outcome, number>;
  /** By rule and number; a later decision replaces an earlier one with the same number. */
  decisions: ReadonlyMap<string, Decision>;
}

export interface PartitionSessionDeps {
  topic: string;
  partition: number;
  book: RuleBook;
  budgets: BudgetTermsBook;
  watcher: RuleWatcher;
  recorder: EvaluationRecorder;
  memory: WindowMemory;
  clock: Clock;
}

/** Takes the partition over at its stored position. */
export async function openPartitionSession(deps: PartitionSessionDeps): Promise<PartitionSession> {
  const { topic, partition, watcher, recorder } = deps;
  const standing = await recorder.standing(topic, partition);
  // Afterwards the book has the rules of all windows, except deleted ones.
  await watcher.refresh();
  const windows = createPartitionWindows({ ...deps, setAside: standing.setAside });
  let position = standing.position;
  let savedPosition = standing.position;
  let savedAt = performance.now();
  let saveMs = 0;
  let pending = nothingPending();
  let atEnd: boolean | null = null;

  return {
    isReady: windows.isReady,
    prepare: windows.prepare,
    get position() {
      return position;
    },
    get saveDue() {
      if (pending.decisions.size > 0 || windows.hasLeaving) return true;
      const busyMs = Math.max(MIN_BUSY_SAVE_INTERVAL_MS, saveMs * BUSY_SAVE_INTERVAL_BY_DURATION);
      return performance.now() - savedAt >= (atEnd === true ? SAVE_INTERVAL_MS : busyMs);
    },
    get full() {
      const changed = windows.changedSize;
      return (
        pending.documents + changed.windows >= MAX_PENDING_DOCUMENTS ||
        pending.bytes + changed.bytes >= MAX_PENDING_BYTES ||
        windows.hasLeaving
      );
    },
    get pending() {
      return pending;
    },
    get atEnd() {
      return atEnd;
    },
    evaluate(event, offset) {
      position = offset + 1;
      const decisions = windows.evaluate(event);
      if (decisions === null) return false;
      for (const decision of decisions) addTo(pending, decision);
      pending.events += 1;
      pending.lastOffset = offset;
      return true;
    },
    finish(batch) {
      position = batch.nextOffset;
      atEnd = batch.nextOffset >= batch.endOffset;
    },
    async save(traces) {
      if (position === null || (position === savedPosition && !windows.hasSetAside)) return;
      const startedAt = performance.now();
      const step = { topic, partition, from: savedPosition, to: position };
      const decisions = [...pending.decisions.values()];
      await recorder.record({ step, ...windows.changed(), decisions, traces });
      windows.saved();
      savedPosition = position;
      savedAt = performance.now();
      saveMs = savedAt - startedAt;
      pending = nothingPending();
    },
    takeBack: windows.takeBack,
    close: windows.close,
  };
}

/** The progress without the windows, which the evaluator measures. */
interface MeasuredPending extends Pending {
  decisions: Map<string, Decision>;
  documents: number;
  bytes: number;
}

function nothingPending(): MeasuredPending {
  const outcomes = { fired: 0, suppressed: 0 };
  return { events: 0, lastOffset: -1, outcomes, decisions: new Map(), documents: 0, bytes: 0 };
}

function addTo(pending: MeasuredPending, decision: Decision): void {
  pending.outcomes[decision.outcome] += 1;
  const place = `${decision.rule.id}/${decision.number}`;
  if (!pending.decisions.has(place)) {
    const { documents, bytes } = sizeOfDecision(decision);
    pending.documents += documents;
    pending.bytes += bytes;
  }
  pending.decisions.set(place, decision);
}
