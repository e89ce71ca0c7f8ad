import { SPEND_SETTLED } from '../domain/event.ts';
import type { EventReader } from '../domain/event.reader.ts';
import { byNewest, byOldest, type ChunkStore } from './chunk.store.ts';
import type { EventStore } from './event.store.ts';

/** Reads blocked events from their documents, and settlements from chunks and from the documents of 0.1. */
export function createEventReader({ events, chunks }: { events: EventStore; chunks: ChunkStore }): EventReader {
  return {
    listBlocked: events.listBlocked,
    findBlocked: events.findBlocked,
    async listRun(tenantId, type, runId, limit) {
      const stored = events.listRun(tenantId, type, runId, limit);
      if (type !== SPEND_SETTLED) return stored;
      const packed = await chunks.oldestOfRun(tenantId, runId, limit);
      return [...(await stored), ...packed].sort(byOldest).slice(0, limit);
    },
    async listSettlements(tenantId, agentId, span, limit) {
      const packed = await chunks.newestOfAgent(tenantId, agentId, span, limit);
      // A document that is older than all of these is not among the newest.
      const start = packed.length === limit ? packed.at(-1)!.time : span.start;
      const stored = await events.listSettlements(tenantId, agentId, { ...span, start }, limit);
      return [...packed, ...stored].sort(byNewest).slice(0, limit);
    },
    hasAgent: async (tenantId, agentId) =>
      (await chunks.hasAgent(tenantId, agentId)) || (await events.hasAgent(tenantId, agentId)),
  };
}
