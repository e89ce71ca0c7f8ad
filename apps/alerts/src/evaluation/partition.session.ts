import type { RecordBatch } from '@tollkeeper/event-log';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision, Outcome } from '../domain/evaluator.ts';
import { createPartitionEvaluator } from '../domain/partition.evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import { type AlertTraces, type EvaluationRecorder, sizeOfDecision } from '../store/evaluation.recorder.ts';
import type { RuleWatcher } from './rule.watcher.ts';

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
  /** Evaluates the next event of a batch that rules count. */
  evaluate(event: CountableEvent, offset: number): void;
  /** Says that what rules count of the batch was evaluated. */
  finish(batch: RecordBatch): void;
  /**
   * Stores position, windows and decisions. After a rejection the session is of no use: nobody knows what is stored.
   */
  save(traces: AlertTraces): Promise<void>;
}

/** What has come since the last save. */
export interface Pending {
  /** Events evaluated. */
  events: number;
  /** Of the last of them. */
  lastOffset: number;
  /** How often rules fired and were suppressed. */
  outcomes: Record<Outcome, number>;
  /** By rule and number: of decisions that take the same place, the last one. */
  decisions: ReadonlyMap<string, Decision>;
}

/** Takes the partition over where the store says it stands. */
export async function openPartitionSession(deps: {
  topic: string;
  partition: number;
  book: RuleBook;
  watcher: RuleWatcher;
  recorder: EvaluationRecorder;
}): Promise<PartitionSession> {
  const { topic, partition, book, watcher, recorder } = deps;
  const standing = await recorder.standing(topic, partition);
  // The rules of all these windows are in the book then, unless they are gone.
  await watcher.refresh();
  const evaluator = createPartitionEvaluator(book, standing.windows);
  let position = standing.position;
  let savedPosition = standing.position;
  let savedAt = performance.now();
  let saveMs = 0;
  let pending = nothingPending();
  let atEnd: boolean | null = null;

  return {
    get position() {
      return position;
    },
    get saveDue() {
      if (pending.decisions.size > 0) return true;
      const busyMs = Math.max(MIN_BUSY_SAVE_INTERVAL_MS, saveMs * BUSY_SAVE_INTERVAL_BY_DURATION);
      return performance.now() - savedAt >= (atEnd === true ? SAVE_INTERVAL_MS : busyMs);
    },
    get full() {
      const { windows, bytes } = evaluator.changedSize;
      return pending.documents + windows >= MAX_PENDING_DOCUMENTS || pending.bytes + bytes >= MAX_PENDING_BYTES;
    },
    get pending() {
      return pending;
    },
    get atEnd() {
      return atEnd;
    },
    evaluate(event, offset) {
      for (const decision of evaluator.evaluate(event)) addTo(pending, decision);
      pending.events += 1;
      pending.lastOffset = offset;
      position = offset + 1;
    },
    finish(batch) {
      position = batch.nextOffset;
      atEnd = batch.nextOffset >= batch.endOffset;
    },
    async save(traces) {
      if (position === null || position === savedPosition) return;
      const startedAt = performance.now();
      const step = { topic, partition, from: savedPosition, to: position };
      const decisions = [...pending.decisions.values()];
      await recorder.record({ step, windows: evaluator.changed(), decisions, traces });
      evaluator.saved();
      savedPosition = position;
      savedAt = performance.now();
      saveMs = savedAt - startedAt;
      pending = nothingPending();
    },
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
