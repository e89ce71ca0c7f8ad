import type { TenantId } from '@tollkeeper/kernel';
import { UnreadableDocument } from '@tollkeeper/mongo';
import type { ClientSession, mongo } from 'mongoose';
import { identitiesOf, type DashboardEvent, type KnownIdentities } from '../../domain/event.ts';
import { runKey, type RunStart } from '../../domain/run.ts';
import { BY_DAY, eventsOf, marksOfRuns, type ChunkCollection, type FindChunks } from './chunk.collection.ts';
import { createFoldSchedule, type FoldPlace } from './chunk.folds.ts';
import { identityKeys, runStartKey } from './chunk.keys.ts';
import { DAY_MS, marksOf, toChunks, type ChunkDocument, type TenantMark } from './chunk.packing.ts';

/** What recording reads from chunks, and writes to them. */
export interface ChunkWriter {
  /** The `identitiesOf` these events that are in a chunk. */
  knownIdentities(session: ClientSession | undefined, events: DashboardEvent[]): Promise<KnownIdentities>;
  /** The times of the first events of these runs, by `runKey`, if chunks have them. */
  knownRunStarts(
    session: ClientSession | undefined,
    runs: { tenantId: TenantId; runId: string }[],
  ): Promise<Map<string, number>>;
  /** Call it in the transaction that read what is known. */
  insert(session: ClientSession | undefined, events: DashboardEvent[], starts: RunStart[]): Promise<void>;
}

export function createChunkWriter(chunks: ChunkCollection, find: FindChunks): ChunkWriter {
  const schedule = createFoldSchedule();

  /** Merges the small chunks of the place into one chunk, or into several if they are many. */
  async function fold(session: ClientSession | undefined, place: FoldPlace): Promise<void> {
    const { tenantId, day, sizes, enough } = place;
    const filter = {
      tenantId,
      to: { $gte: new Date(day), $lt: new Date(day + DAY_MS) },
      size: { $gte: sizes.from, $lt: sizes.to },
    };
    const ids: mongo.ObjectId[] = [];
    const events: DashboardEvent[] = [];
    const marks: TenantMark[] = [];
    for await (const chunk of chunks.find(filter, { ...(session && { session }), hint: BY_DAY, sort: { to: 1 } })) {
      try {
        const starts = marksOfRuns(chunk).map((mark): TenantMark => ({ tenantId, ...mark }));
        events.push(...eventsOf(chunk));
        marks.push(...starts);
        ids.push(chunk._id);
      } catch (error) {
        // An unreadable chunk stays as it is.
        if (!(error instanceof UnreadableDocument)) throw error;
      }
      if (events.length + marks.length >= enough) break;
    }
    await chunks.deleteMany({ _id: { $in: ids } }, session && { session });
    await write(session, toChunks(events, marks));
  }

  async function write(session: ClientSession | undefined, made: ChunkDocument[]): Promise<void> {
    if (made.length === 0) return;
    await chunks.insertMany(made, session && { session });
    for (const place of schedule.dueAfter(made)) await fold(session, place);
  }

  return {
    async knownIdentities(session, wanted) {
      const known: KnownIdentities = new Map();
      const keys = [...new Set(wanted.flatMap(identityKeys))];
      // Built on demand, because almost never does a chunk match.
      let asked: Set<string> | undefined;
      for await (const chunk of find({ keys: { $in: keys } }, 'events', {}, session)) {
        asked ??= new Set(wanted.flatMap(identitiesOf));
        for (const event of eventsOf(chunk, { fields: ['settlement_id', 'amount_micros'] })) {
          for (const identity of identitiesOf(event)) {
            if (asked.has(identity)) known.set(identity, event.data.amount_micros);
          }
        }
      }
      return known;
    },
    async knownRunStarts(session, wanted) {
      const asked = new Set(wanted.map(({ tenantId, runId }) => runKey(tenantId, runId)));
      const keys = [...new Set(wanted.map(({ tenantId, runId }) => runStartKey(tenantId, runId)))];
      const starts = new Map<string, number>();
      for await (const chunk of find({ keys: { $in: keys } }, 'marks', {}, session)) {
        for (const { runId, time } of marksOfRuns(chunk)) {
          const key = runKey(chunk.tenantId, runId);
          // When a start moves back, its old time stays in a mark. The earliest time is the start.
          if (asked.has(key) && time < (starts.get(key) ?? Infinity)) starts.set(key, time);
        }
      }
      return starts;
    },
    insert: (session, events, starts) => write(session, toChunks(events, marksOf(starts))),
  };
}
