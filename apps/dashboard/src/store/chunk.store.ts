import { startSlices, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { driverCollection, UnreadableDocument } from '@tollkeeper/mongo';
import { Schema, type ClientSession, type Connection, type mongo } from 'mongoose';
import { eventKey, identitiesOf, SPEND_SETTLED, type DashboardEvent } from '../domain/event.ts';
import { UNLIMITED, type ReadMeter } from '../domain/reads.ts';
import { runKey, type RunStart } from '../domain/run.ts';
import type { RunStartStore } from '../domain/tallies.ts';
import { openEvents, readMarks, type RunMark, type WhichEvents } from './chunk.codec.ts';
import { createFoldSchedule, type FoldPlace } from './chunk.folds.ts';
import { identityKeys, runStartKey } from './chunk.keys.ts';
import { DAY_MS, marksOf, quarterOf, toChunks, type ChunkDocument, type TenantMark } from './chunk.packing.ts';

export interface ChunkStore extends RunStartStore {
  /** The `identitiesOf` these events that are in a chunk. */
  knownIdentities(session: ClientSession | undefined, events: DashboardEvent[]): Promise<Set<string>>;
  /** The times of the first events of these runs, by `runKey`, as far as chunks know them. */
  knownRunStarts(
    session: ClientSession | undefined,
    runs: { tenantId: TenantId; runId: string }[],
  ): Promise<Map<string, number>>;
  /** Call it in the transaction that has asked for what is known. */
  insert(session: ClientSession | undefined, events: DashboardEvent[], starts: RunStart[]): Promise<void>;
  /**
   * The events in `span`, of one agent or of all, in any order. Their `data` has only `fields`, and they have no id.
   */
  eventsIn(
    tenantId: TenantId,
    span: TimeSpan,
    fields: readonly string[],
    agentId?: string,
    meter?: ReadMeter,
  ): AsyncGenerator<DashboardEvent>;
  /** The oldest settlements of a run, oldest first, at most `limit`. */
  oldestOfRun(tenantId: TenantId, runId: string, limit: number, meter?: ReadMeter): Promise<DashboardEvent[]>;
  /** The newest settlements of an agent in `span`, newest first, at most `limit`. */
  newestOfAgent(
    tenantId: TenantId,
    agentId: string,
    span: TimeSpan,
    limit: number,
    meter?: ReadMeter,
  ): Promise<DashboardEvent[]>;
  hasAgent(tenantId: TenantId, agentId: string): Promise<boolean>;
}

/** Far smaller on the disk, because keys of neighbours begin alike. */
const COMPRESSED = { storageEngine: { wiredTiger: { configString: 'block_compressor=zstd' } } };

const BY_QUARTER = { tenantId: 1, quarters: 1 } as const;
/** For folds. */
const BY_DAY = { tenantId: 1, to: 1, size: 1 } as const;
const BY_AGENT = { tenantId: 1, agents: 1, to: 1, from: 1 } as const;
const BY_RUN = { tenantId: 1, runs: 1, from: 1 } as const;
/** How many chunks are read at once of those that are read until enough is found. */
const AT_ONCE = 4;
/** And of those that all are read. */
const ALL_AT_ONCE = 16;

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

/** All events but blocked ones, and the starts of all runs, packed; kept for `retentionSeconds` after the newest. */
export function createChunkStore(connection: Connection, retentionSeconds: number): ChunkStore {
  // The driver's collection: this is a hot path, and every value below is typed or made here.
  const chunks = driverCollection<ChunkDocument>(connection, 'Chunk', chunkSchema(retentionSeconds), COMPRESSED);
  const schedule = createFoldSchedule();

  /**
   * Chunks, one after the other, without what is not needed of them. Without a session, on a snapshot of their own:
   * then no fold takes any away from under it.
   */
  async function* find(
    filter: mongo.Filter<ChunkDocument>,
    field: 'events' | 'marks',
    options: mongo.FindOptions = {},
    session?: ClientSession,
  ): AsyncGenerator<ChunkDocument> {
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
  }

  /** Makes one chunk of the small ones in the place, or several when they are many. */
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
        // It stays where it is.
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
      const known = new Set<string>();
      const keys = [...new Set(wanted.flatMap(identityKeys))];
      // Nearly always there is none.
      let asked: Set<string> | undefined;
      for await (const chunk of find({ keys: { $in: keys } }, 'events', {}, session)) {
        asked ??= new Set(wanted.flatMap(identitiesOf));
        for (const event of eventsOf(chunk, { fields: ['settlement_id'] })) {
          for (const identity of identitiesOf(event)) if (asked.has(identity)) known.add(identity);
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
          // A time at which the run no longer starts is later than that at which it does.
          if (asked.has(key) && time < (starts.get(key) ?? Infinity)) starts.set(key, time);
        }
      }
      return starts;
    },
    insert: (session, events, starts) => write(session, toChunks(events, marksOf(starts))),
    async *eventsIn(tenantId, span, fields, agentId, meter = UNLIMITED) {
      const ofAgent = agentId !== undefined && { agents: agentId };
      const filter = { tenantId, ...ofAgent, ...overlapping(span), quarters: { $in: quartersOf(span) } };
      const hint = agentId === undefined ? BY_QUARTER : BY_AGENT;
      for await (const chunk of find(filter, 'events', { hint, batchSize: ALL_AT_ONCE })) {
        meter.take(chunk.events.position);
        for (const event of eventsOf(chunk, { span, fields, ids: false })) {
          if (agentId === undefined || event.data.agent_id === agentId) yield event;
        }
      }
    },
    async oldestOfRun(tenantId, runId, limit, meter = UNLIMITED) {
      let oldest: DashboardEvent[] = [];
      const options = { hint: BY_RUN, sort: { from: 1 }, batchSize: AT_ONCE } as const;
      for await (const chunk of find({ tenantId, runs: runId }, 'events', options)) {
        if (oldest.length === limit && oldest.at(-1)!.time < chunk.from.getTime()) break;
        meter.take(chunk.events.position);
        for (const event of eventsOf(chunk)) {
          if (event.type === SPEND_SETTLED && event.data.run_id === runId) oldest.push(event);
        }
        oldest = oldest.sort(byOldest).slice(0, limit);
      }
      return oldest;
    },
    async newestOfAgent(tenantId, agentId, span, limit, meter = UNLIMITED) {
      let newest: DashboardEvent[] = [];
      const options = { hint: BY_AGENT, sort: { to: -1 }, batchSize: AT_ONCE } as const;
      for await (const chunk of find({ tenantId, agents: agentId, ...overlapping(span) }, 'events', options)) {
        if (newest.length === limit && newest.at(-1)!.time > chunk.to.getTime()) break;
        meter.take(chunk.events.position);
        for (const event of eventsOf(chunk, { span })) {
          if (event.type === SPEND_SETTLED && event.data.agent_id === agentId) newest.push(event);
        }
        newest = newest.sort(byNewest).slice(0, limit);
      }
      return newest;
    },
    hasAgent: async (tenantId, agentId) =>
      (await chunks.findOne({ tenantId, agents: agentId }, { projection: { _id: 1 } })) !== null,
    async countRunStarts(tenantId, { raw }, meter = UNLIMITED) {
      const counts = await Promise.all(
        raw.map(async (span) => {
          let runs = 0;
          const filter = {
            tenantId,
            ...overlapping(span),
            quarters: { $in: quartersOf(span) },
            marks: { $exists: true },
          };
          for await (const chunk of find(filter, 'marks', { hint: BY_QUARTER, batchSize: ALL_AT_ONCE })) {
            meter.take(chunk.marks?.position ?? 0);
            for (const { time, starts } of marksOfRuns(chunk))
              if (time >= span.start && time < span.end) runs += starts;
          }
          return runs;
        }),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Later events come first; of one time, that whose key is larger to the database, which compares bytes. */
export function byNewest(a: DashboardEvent, b: DashboardEvent): number {
  return b.time - a.time || Buffer.compare(Buffer.from(eventKey(b)), Buffer.from(eventKey(a)));
}

export function byOldest(a: DashboardEvent, b: DashboardEvent): number {
  return -byNewest(a, b);
}

/** A chunk is of one day. So those that end a day behind the span need not be looked at. */
function overlapping({ start, end }: TimeSpan): mongo.Filter<ChunkDocument> {
  return { to: { $gte: new Date(start), $lt: new Date(end + DAY_MS) }, from: { $lt: new Date(end) } };
}

function quartersOf({ start, end }: TimeSpan): number[] {
  const first = quarterOf(start);
  return Array.from({ length: quarterOf(end - 1) - first + 1 }, (_, index) => first + index);
}

function* eventsOf({ _id, tenantId, events }: ChunkDocument, options: WhichEvents = {}): Generator<DashboardEvent> {
  try {
    yield* openEvents(tenantId, bytesOf(events)).events(options);
  } catch (cause) {
    throw unreadable(_id, cause);
  }
}

function marksOfRuns({ _id, marks }: ChunkDocument): RunMark[] {
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
