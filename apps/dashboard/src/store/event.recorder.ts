import type { ClientSession } from 'mongoose';
import { isBlocked } from '../domain/event.ts';
import type { EventRecorder } from '../domain/record-events.ts';
import type { BlockedStore } from './blocked.store.ts';
import type { ChunkStore } from './chunks/chunk.store.ts';
import type { NameStore } from './rollups/name.store.ts';
import type { RollupStore } from './rollups/rollup.store.ts';

/**
 * Writes with the given MongoDB session, so that all calls of one transaction take effect together. Blocked events are
 * documents, because they are listed by page and found by id. Other events, and the starts of runs, are packed into
 * chunks.
 */
export function createEventRecorder(stores: {
  blocked: BlockedStore;
  chunks: ChunkStore;
  names: NameStore;
  rollups: RollupStore;
}): EventRecorder<ClientSession> {
  const { blocked, chunks, names, rollups } = stores;
  return {
    async knownIdentities(session, asked) {
      const known = await blocked.knownIdentities(session, asked);
      for (const [identity, amount] of await chunks.knownIdentities(session, asked)) known.set(identity, amount);
      return known;
    },
    knownRunStarts: chunks.knownRunStarts,
    async insert(session, fresh, starts) {
      await blocked.insert(session, fresh.filter(isBlocked));
      await chunks.insert(
        session,
        fresh.filter((event) => !isBlocked(event)),
        starts,
      );
    },
    addNames: names.add,
    addToRollups: rollups.add,
    rollupPartsOf: rollups.partsOf,
  };
}
