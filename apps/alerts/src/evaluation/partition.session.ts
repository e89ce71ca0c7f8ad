import type { RecordBatch } from '@tollkeeper/event-log';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision, Outcome } from '../domain/evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import { type AlertTraces, type EvaluationRecorder, sizeOfDecision } from '../store/evaluation.recorder.ts';
import { createPartitionWindows } from './partition.windows.ts';
import type { RuleWatcher } from './rule.watcher.ts';
import type { WindowMemory } from './window.memory.ts';

/** What a save may write, about: a transaction has to fit into the store's cache and time. */
const MAX_PENDING_DOCUMENTS = 2000;
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
/** At the end of the partition. What comes with no further batch behind it is for the loop to save. */
const SAVE_INTERVAL_MS = 1000;
/**
 * While there is more to read, which goes first: saving takes about a tenth of the time at most. A crash costs reading
 * again what was read in that time.
 */
const MIN_BUSY_SAVE_INTERVAL_MS = 5000;
const BUSY_SAVE_INTERVAL_BY_DURATION = 10;

/** The evaluation of one partition, from where it was taken over on. */
export interface PartitionSession {
  /** The position that the next batch must be read from. */
  readonly position: number | null;
  /** Whether it is time to save: something was decided, or enough time has passed since the last save. */
  readonly saveDue: boolean;
  /** Whether to save before anything else is evaluated, in mid-batch too. */
  readonly full: boolean;
  /** What there is to save. */
  readonly pending: Readonly<Pending>;
  /** Whether the partition was read to its end, as of the last batch; null before the first. */
  readonly atEnd: boolean | null;
  /** Whether an event of the workspace can be evaluated. */
  isReady(tenantId: TenantId): boolean;
  /** Reads the windows of the first of these workspaces, and of the next ones that are not ready. */
  prepare(tenantIds: Iterable<TenantId>): Promise<void>;
  /** Evaluates the next event of a batch that rules count. False: its workspace is set aside, it is passed over. */
  evaluate(event: CountableEvent, offset: number): boolean;
  /** Says that what rules count of the batch was evaluated. */
  finish(batch: RecordBatch): void;
  /**
   * Stores position, windows and decisions. After a rejection the session is of no use: nobody knows what is stored.
   */
  save(traces: AlertTraces): Promise<void>;
  /** Takes workspaces that were set aside in again, where there is room by now. */
  takeBack(): Promise<void>;
  /** The session is not used any more. */
  close(): void;
}

/** What has come since the last save. */
interface Pending {
  /** Events evaluated. */
  events: number;
  /** Of the last of them. */
  lastOffset: number;
  /** How often rules fired and were suppressed. */
  outcomes: Record<Outcome, number>;
  /** By rule and number: of decisions that take the same place, the last one. */
  decisions: ReadonlyMap<string, Decision>;
}

export interface PartitionSessionDeps {
  topic: string;
  partition: number;
  book: RuleBook;
  watcher: RuleWatcher;
  recorder: EvaluationRecorder;
  memory: WindowMemory;
  clock: Clock;
}

/** Takes the partition over where the store says it stands. */
export async function openPartitionSession(deps: PartitionSessionDeps): Promise<PartitionSession> {
  const { topic, partition, watcher, recorder } = deps;
  const standing = await recorder.standing(topic, partition);
  // The rules of all windows are in the book then, unless they are gone.
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

/** Beside the windows, which the evaluator measures. */
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
