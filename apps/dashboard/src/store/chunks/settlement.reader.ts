import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import type { ClientSession, Connection, mongo } from 'mongoose';
import type { ReadMeter } from '../../domain/reads.ts';
import type { SettlementReader } from '../../domain/settlement.list.ts';
import { collectPage, PAGE_LIMITS, type PageCollector } from '../../domain/settlement.page.ts';
import { BY_DAY, BY_QUARTER, eventsOf, type ChunkCollection, type FindChunks } from './chunk.collection.ts';
import { DAY_MS, dayOf, type ChunkDocument } from './chunk.packing.ts';
import { overlapping, quartersOf } from './chunk.reader.ts';

const HOUR_MS = 3_600_000;
/** Chunks that are read before the reader looks whether the page is full. */
const AT_ONCE = 4;
/** A span with fewer chunks is followed by one of twice its length, up to a day. */
const FEW_CHUNKS = 16;

const LIMITS = {
  ...PAGE_LIMITS,
  /** Packed bytes after which a page ends, so that it is a small read. */
  readBytes: 2 * 1024 * 1024,
  /** Spans after which a page ends. Each takes two statements. */
  spans: 200,
};

interface PageRead {
  session: ClientSession;
  tenantId: TenantId;
  collector: PageCollector;
  /** Whether the page may end before it is full. */
  hasReadEnough: boolean;
  take(bytes: number): void;
}

/** Reads pages in the order of time, from a snapshot each. So no fold moves events during the read of a page. */
export function createSettlementReader(
  { connection, chunks, find }: { connection: Connection; chunks: ChunkCollection; find: FindChunks },
  limits = LIMITS,
): SettlementReader {
  /** No event of the workspace is in `[from, result)`. A chunk has events of one day only. */
  async function skipEmptyDays({ session, tenantId }: PageRead, from: number, until: number): Promise<number> {
    const filter = { tenantId, to: { $gte: new Date(from), $lt: new Date(until + DAY_MS) } };
    const options = { session, hint: BY_DAY, sort: { to: 1 }, projection: { _id: 0, to: 1 } } as const;
    const next = await chunks.findOne(filter, options);
    return next === null ? until : Math.min(until, Math.max(from, dayOf(next.to.getTime())));
  }

  /** The chunks with events in `span`, by the time of their first event. */
  async function listChunks(
    { session, tenantId }: PageRead,
    span: TimeSpan,
  ): Promise<Pick<ChunkDocument, '_id' | 'from'>[]> {
    const filter: mongo.Filter<ChunkDocument> = {
      tenantId,
      ...overlapping(span),
      quarters: { $in: quartersOf(span) },
    };
    const found = await chunks.find(filter, { session, hint: BY_QUARTER, projection: { from: 1 } }).toArray();
    return found.sort((a, b) => a.from.getTime() - b.from.getTime());
  }

  /** Resolves to the time before which all events of the span were read. */
  async function readSpan(
    read: PageRead,
    span: TimeSpan,
    listed: Pick<ChunkDocument, '_id' | 'from'>[],
  ): Promise<number> {
    const { session, tenantId, collector } = read;
    for (let at = 0; at < listed.length; at += AT_ONCE) {
      const first = listed[at]!.from.getTime();
      if (collector.isFullBefore(first)) return first;
      if (read.hasReadEnough && first > span.start) return first;
      const filter = { tenantId, _id: { $in: listed.slice(at, at + AT_ONCE).map(({ _id }) => _id) } };
      for await (const chunk of find(filter, 'events', { hint: { _id: 1 } }, session)) {
        read.take(chunk.events.position);
        for (const event of eventsOf(chunk, { span, ids: false })) collector.add(event);
      }
    }
    return span.end;
  }

  return {
    async settlementsFrom(tenantId, from, until, meter, atMost = limits.settlements) {
      const session = connection.getClient().startSession({ snapshot: true });
      const collector = collectPage(from, { settlements: atMost, bytes: limits.bytes }, meter);
      const read = startRead({ session, tenantId, collector, meter, readBytes: limits.readBytes });
      try {
        let at = from.time;
        let length = HOUR_MS;
        for (let spans = 0; spans < limits.spans && !read.hasReadEnough && !collector.isFullBefore(at); spans += 1) {
          at = await skipEmptyDays(read, at, until);
          if (at === until) break;
          const span = { start: at, end: Math.min(until, at + length) };
          const listed = await listChunks(read, span);
          at = await readSpan(read, span, listed);
          length = listed.length < FEW_CHUNKS ? Math.min(DAY_MS, 2 * length) : HOUR_MS;
        }
        const { settlements, next } = collector.page(at);
        return { settlements, next: next.time < until ? next : null };
      } finally {
        await session.endSession();
      }
    },
  };
}

function startRead(deps: Omit<PageRead, 'hasReadEnough' | 'take'> & { meter: ReadMeter; readBytes: number }): PageRead {
  const { meter, readBytes, ...read } = deps;
  let bytes = 0;
  return {
    ...read,
    get hasReadEnough() {
      return bytes >= readBytes;
    },
    take(more) {
      meter.take(more);
      bytes += more;
    },
  };
}
