import { SPEND_SETTLED } from '../domain/event.ts';
import type { EventReader } from '../domain/event.reader.ts';
import type { BlockedStore } from './blocked.store.ts';
import type { ChunkStore } from './chunks/chunk.store.ts';

/** Reads blocked events from their documents, and settlements from chunks. */
export function createEventReader({ blocked, chunks }: { blocked: BlockedStore; chunks: ChunkStore }): EventReader {
  return {
    listBlocked: blocked.listBlocked,
    blockedReasons: blocked.blockedReasons,
    findBlocked: blocked.findBlocked,
    listRun: (tenantId, type, runId, limit, meter) =>
      type === SPEND_SETTLED
        ? chunks.oldestOfRun(tenantId, runId, limit, meter)
        : blocked.oldestOfRun(tenantId, type, runId, limit),
    listSettlements: chunks.newestOfAgent,
    hasAgent: async (tenantId, agentId) =>
      (await chunks.hasAgent(tenantId, agentId)) || (await blocked.hasAgent(tenantId, agentId)),
  };
}
