import {
  type ConflictPatience,
  createConflictPatience,
  type DeadLetters,
  type RecordBatch,
} from '@tollkeeper/event-log';
import type { EvaluationRecorder } from '../store/evaluation.recorder.ts';

/** The save of what these events came to was refused for what it is: fewer at once may get through. */
export class RefusedSave extends Error {
  /** Of the last of the events. */
  readonly offset: number;

  constructor(offset: number, cause: unknown) {
    super(`MongoDB refused to store an evaluation: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
    this.name = 'RefusedSave';
    this.offset = offset;
  }
}

/** A refusal can pass: the server may have too much to do right now. */
const MAX_REFUSALS_OF_ONE_EVENT = 3;
/** Above this, only the size of what is stored bounds a save. */
const MAX_LIMIT = 4096;

interface Refusals {
  /** Largest number of events of a save. */
  limit: number;
  /** Refusals of the same single event in a row. */
  ofOne: number;
  /** Offsets of events that were set aside and that the stored position is not behind yet. */
  setAside: Set<number>;
}

/**
 * Sees to it that no event holds up the ones behind it: after a refusal a partition's saves are of half as many events,
 * down to one.
 */
export interface SaveRefusals {
  /** Most events that a save of the partition may be about now. */
  limit(partition: number): number;
  isSetAside(partition: number, offset: number): boolean;
  /** After a save of so many events was refused. */
  refused(partition: number, events: number): void;
  /** After a save; the next one may be of twice as many events. */
  saved(partition: number): void;
  /**
   * Sets the event of the batch aside once it was refused alone, several times and not only by conflicts, while MongoDB
   * takes other writes.
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
      // If the database refuses even this, the database is in trouble, and the event is not the cause.
      await recorder.touch(batch.topic, batch.partition);
      await deadLetters.setAside(batch, record, message);
      refusals.setAside.add(offset);
      refusals.ofOne = 0;
    },
  };
}
