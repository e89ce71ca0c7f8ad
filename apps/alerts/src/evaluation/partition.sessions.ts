import type { RecordBatch } from '@tollkeeper/event-log';
import { openPartitionSession, type PartitionSession, type PartitionSessionDeps } from './partition.session.ts';

/** The sessions of the partitions that this replica has, and the turns that work on a partition takes. */
export interface PartitionSessions {
  partitions(): number[];
  /** Undefined while the partition is not taken over. */
  get(partition: number): PartitionSession | undefined;
  /** The session that goes on with the batch. Rejects when the store says that the partition stands elsewhere. */
  at(batch: RecordBatch): Promise<PartitionSession>;
  drop(partition: number): void;
  /** Runs one piece of work on a partition after the other. A failure costs the session, since it may be half way. */
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
      if (session.position !== from) throw new Error('the partition was taken over elsewhere; reading on from there');
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
