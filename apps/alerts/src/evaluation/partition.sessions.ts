import type { RecordBatch } from '@tollkeeper/event-log';
import { openPartitionSession, type PartitionSession, type PartitionSessionDeps } from './partition.session.ts';

/** The sessions of this replica's partitions. Work on a partition runs in turns. */
export interface PartitionSessions {
  partitions(): number[];
  /** Undefined before the partition is taken over. */
  get(partition: number): PartitionSession | undefined;
  /** The session that continues with the batch. Rejects if the stored position differs from the batch's. */
  at(batch: RecordBatch): Promise<PartitionSession>;
  drop(partition: number): void;
  /** Runs work on a partition, one piece at a time. A failure closes the session, whose state may be inconsistent. */
  inTurn(partition: number, work: () => Promise<void>): Promise<void>;
}

export function createPartitionSessions(deps: Omit<PartitionSessionDeps, 'topic' | 'partition'>): PartitionSessions {
  const sessions = new Map<number, PartitionSession>();
  const turns = new Map<number, Promise<void>>();

  function drop(partition: number): void {
    sessions.get(partition)?.close();
    sessions.delete(partition);
  }

  return {
    partitions: () => [...sessions.keys()],
    get: (partition) => sessions.get(partition),
    async at({ topic, partition, from }) {
      const known = sessions.get(partition);
      if (known !== undefined && known.position === from) return known;
      drop(partition);
      const session = await openPartitionSession({ ...deps, topic, partition });
      sessions.set(partition, session);
      if (session.position !== from) throw new Error('another replica took the partition; continuing from its offset');
      await session.takeBack();
      return session;
    },
    drop,
    inTurn(partition, work) {
      const turn = (turns.get(partition) ?? Promise.resolve()).then(work).catch((error: unknown) => {
        drop(partition);
        throw error;
      });
      turns.set(
        partition,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
}
