import type { RecordBatch } from '@tollkeeper/event-log';
import type { CountableEvent } from '../domain/event.ts';
import type { Decision } from '../domain/evaluator.ts';
import { createPartitionEvaluator } from '../domain/partition.evaluator.ts';
import type { RuleBook } from '../domain/rule-book.ts';
import type { AlertTraces, EvaluationRecorder } from '../store/evaluation.recorder.ts';

/** Documents that a save may write for decisions, about: a transaction has to fit into the store's cache and time. */
const MAX_PENDING_WRITES = 2000;
/** At the end of the partition. What comes with no further batch behind it is for the loop to save. */
const SAVE_INTERVAL_MS = 1000;
/**
 * While there is more to read, which goes first: saving takes about a tenth of the time at most. A crash costs reading again
 * what was read in that time.
 */
const MIN_BUSY_SAVE_INTERVAL_MS = 5000;
const BUSY_SAVE_INTERVAL_BY_DURATION = 10;

/** The evaluation of one partition, from where it was taken over on. */
export interface PartitionSession {
  /** The position that the next batch must be read from. */
  readonly position: number | null;
  /** The position that is stored. */
  readonly savedPosition: number | null;
  /** Whether it is time to save: something was decided, or enough time has passed since the last save. */
  readonly saveDue: boolean;
  /** Whether to save before anything else is evaluated, in mid-batch too. */
  readonly full: boolean;
  /** Decisions made since the last save. */
  readonly decisions: readonly Decision[];
  /** Whether the partition was read to its end, as of the last batch; null before the first. */
  readonly atEnd: boolean | null;
  /** Evaluates the next event of a batch that rules count. */
  evaluate(event: CountableEvent, offset: number): void;
  /** Says that what rules count of the batch was evaluated. */
  finish(batch: RecordBatch): void;
  /** Stores position, windows and decisions. After a rejection the session is of no use: nobody knows what is stored. */
  save(traces: AlertTraces): Promise<void>;
}

/** Takes the partition over where the store says it stands. */
export async function openPartitionSession(deps: {
  topic: string;
  partition: number;
  book: RuleBook;
  recorder: EvaluationRecorder;
}): Promise<PartitionSession> {
  const { topic, partition, book, recorder } = deps;
  const standing = await recorder.standing(topic, partition);
  const evaluator = createPartitionEvaluator(book, standing.windows);
  let position = standing.position;
  let savedPosition = standing.position;
  let savedAt = performance.now();
  let saveMs = 0;
  let decisions: Decision[] = [];
  let pendingWrites = 0;
  let atEnd: boolean | null = null;

  return {
    get position() {
      return position;
    },
    get savedPosition() {
      return savedPosition;
    },
    get saveDue() {
      if (decisions.length > 0) return true;
      const busyMs = Math.max(MIN_BUSY_SAVE_INTERVAL_MS, saveMs * BUSY_SAVE_INTERVAL_BY_DURATION);
      return performance.now() - savedAt >= (atEnd === true ? SAVE_INTERVAL_MS : busyMs);
    },
    get full() {
      return pendingWrites >= MAX_PENDING_WRITES;
    },
    get decisions() {
      return decisions;
    },
    get atEnd() {
      return atEnd;
    },
    evaluate(event, offset) {
      for (const decision of evaluator.evaluate(event)) {
        decisions.push(decision);
        pendingWrites += writesOf(decision);
      }
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
      await recorder.record({ step, windows: evaluator.changed(), decisions, traces });
      evaluator.saved();
      savedPosition = position;
      savedAt = performance.now();
      saveMs = savedAt - startedAt;
      decisions = [];
      pendingWrites = 0;
    },
  };
}

/** The alert, and for each channel its delivery and what goes to the log. */
function writesOf({ outcome, rule }: Decision): number {
  return outcome === 'fired' ? 1 + 2 * rule.channelIds.length : 1;
}
