import { startSlices } from '@tollkeeper/kernel';
import { driverCollection, UnreadableDocument } from '@tollkeeper/mongo';
import { Schema, type ClientSession, type Connection, type mongo } from 'mongoose';
import type { DashboardEvent } from '../../domain/event.ts';
import { openEvents, readMarks, type RunMark, type WhichEvents } from './chunk.codec.ts';
import type { ChunkDocument } from './chunk.packing.ts';

export type ChunkCollection = mongo.Collection<ChunkDocument>;

/** Far smaller on disk than the default, because neighboring keys begin alike. */
const COMPRESSED = { storageEngine: { wiredTiger: { configString: 'block_compressor=zstd' } } };

export const BY_QUARTER = { tenantId: 1, quarters: 1 } as const;
/** For folds. */
export const BY_DAY = { tenantId: 1, to: 1, size: 1 } as const;
export const BY_AGENT = { tenantId: 1, agents: 1, to: 1, from: 1 } as const;
export const BY_RUN = { tenantId: 1, runs: 1, from: 1 } as const;
const chunkSchema = (retentionSeconds: number): Schema<ChunkDocument> => {
  const schema = new Schema<ChunkDocument>(
    {
      _id: { type: Schema.Types.ObjectId, required: true },
      tenantId: { type: String, required: true },
      from: { type: Date, required: true },
      to: { type: Date, required: true },
      quarters: { type: [Number], required: true },
      size: { type: Number, required: true },
      events: { type: Schema.Types.Buffer, required: true },
      marks: Schema.Types.Buffer,
      keys: { type: [String], required: true },
      agents: { type: [String], required: true },
      runs: { type: [String], required: true },
    },
    { collection: 'chunks', versionKey: false },
  );
  schema.index(BY_QUARTER);
  schema.index(BY_DAY);
  schema.index(BY_AGENT, COMPRESSED);
  schema.index(BY_RUN, COMPRESSED);
  schema.index({ keys: 1 }, COMPRESSED);
  schema.index({ to: 1 }, { expireAfterSeconds: retentionSeconds });
  return schema;
};

/** Kept for `retentionSeconds` after their newest event. */
export function createChunkCollection(connection: Connection, retentionSeconds: number): ChunkCollection {
  // The driver's collection: this is a hot path, and every value that is read or written is typed or made here.
  return driverCollection<ChunkDocument>(connection, 'Chunk', chunkSchema(retentionSeconds), COMPRESSED);
}

/**
 * Reads chunks one by one, with only the fields that are needed. Without a session, it reads from a snapshot of its
 * own, so no fold removes chunks during the read.
 */
export type FindChunks = (
  filter: mongo.Filter<ChunkDocument>,
  field: 'events' | 'marks',
  options?: mongo.FindOptions,
  session?: ClientSession,
) => AsyncGenerator<ChunkDocument>;

export function createFindChunks(connection: Connection, chunks: ChunkCollection): FindChunks {
  return async function* find(filter, field, options = {}, session) {
    const own = session ?? connection.getClient().startSession({ snapshot: true });
    const slices = startSlices();
    try {
      const projection = { tenantId: 1, from: 1, to: 1, [field]: 1 };
      for await (const chunk of chunks.find(filter, { ...options, session: own, projection })) {
        if (slices.usedUp()) await slices.next();
        yield chunk;
      }
    } finally {
      if (own !== session) await own.endSession();
    }
  };
}

export function* eventsOf(
  { _id, tenantId, events }: ChunkDocument,
  options: WhichEvents = {},
): Generator<DashboardEvent> {
  try {
    yield* openEvents(tenantId, bytesOf(events)).events(options);
  } catch (cause) {
    throw unreadable(_id, cause);
  }
}

export function marksOfRuns({ _id, marks }: ChunkDocument): RunMark[] {
  try {
    return marks === undefined ? [] : readMarks(bytesOf(marks));
  } catch (cause) {
    throw unreadable(_id, cause);
  }
}

function unreadable(id: mongo.ObjectId, cause: unknown): UnreadableDocument {
  return new UnreadableDocument('chunks', id.toHexString(), cause);
}

function bytesOf(binary: mongo.Binary): Uint8Array {
  return binary.buffer.subarray(0, binary.position);
}
