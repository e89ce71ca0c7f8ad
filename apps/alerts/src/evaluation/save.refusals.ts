import {
  type ConflictPatience,
  createConflictPatience,
  type DeadLetters,
  type RecordBatch,
} from '@tollkeeper/event-log';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';

/** The results of these events could not be saved together; a save of fewer events may succeed. */
export class RefusedSave extends Error {
  /** Offset of the last of the events. */
  readonly offset: number;

  constructor(offset: number, cause: unknown) {
    super(`MongoDB refused to store an evaluation: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'RefusedSave';
    this.offset = offset;
  }
}

/** A refusal can be temporary, such as when the server is overloaded. */
const MAX_REFUSALS_OF_ONE_EVENT = 3;
/** Above this, only the size of the data limits a save. */
const MAX_LIMIT = 4096;

interface Refusals {
  /** Maximum number of events in a save. */
  limit: number;
  /** Consecutive refusals of the same single event. */
  ofOne: number;
  /** Offsets of events that were set aside and are not yet behind the stored position. */
  setAside: Set<number>;
}

/**
 * Keeps a refused event from blocking later ones: after each refusal, the partition's saves have half as many events,
 * down to one.
 */
export interface SaveRefusals {
  /** The current maximum number of events in a save of the partition. */
  limit(partition: number): number;
  isSetAside(partition: number, offset: number): boolean;
  /** Call after a save of this many events was refused. */
  refused(partition: number, events: number): void;
  /** Call after a save; the next one may have twice as many events. */
  saved(partition: number): void;
  /**
   * Sets aside the event of the batch if it was refused alone several times, not only by conflicts, while MongoDB
   * accepts other writes.
   */
  giveUp(batch: RecordBatch, refusal: RefusedSave): Promise<void>;
}

export function createSaveRefusals(deps: {
  deadLetters: DeadLetters;
  recorder: Pick<EvaluationRecorder, 'touch'>;
  patience?: ConflictPatience;
}): SaveRefusals {
  const { deadLetters, recorder, patience = createConflictPatience() } = deps;
  const byPartition = new Map<number, Refusals>();

  return {
    limit: (partition) => byPartition.get(partition)?.limit ?? Infinity,
    isSetAside: (partition, offset) => byPartition.get(partition)?.setAside.has(offset) ?? false,
    refused(partition, events) {
      const { ofOne = 0, setAside = new Set<number>() } = byPartition.get(partition) ?? {};
      const limit = Math.max(1, Math.floor(events / 2));
      byPartition.set(partition, { limit, ofOne: events === 1 ? ofOne + 1 : 0, setAside });
    },
    saved(partition) {
      const before = byPartition.get(partition);
      if (before === undefined) return;
      const limit = before.limit * 2;
      if (limit > MAX_LIMIT) byPartition.delete(partition);
      else byPartition.set(partition, { limit, ofOne: 0, setAside: new Set() });
    },
    async giveUp(batch, { offset, message, cause }) {
      const refusals = byPartition.get(batch.partition);
      const record = batch.records.find((each) => each.offset === offset);
      if (refusals === undefined || refusals.ofOne === 0 || record === undefined) return;
      const patient = !patience.hasRunOut(cause, batch, offset);
      if (patient || refusals.ofOne < MAX_REFUSALS_OF_ONE_EVENT) return;
      // If MongoDB refuses even this, MongoDB has the problem, not the event.
      await recorder.touch(batch.topic, batch.partition);
      await deadLetters.setAside(batch, record, message);
      refusals.setAside.add(offset);
      refusals.ofOne = 0;
    },
  };
}
