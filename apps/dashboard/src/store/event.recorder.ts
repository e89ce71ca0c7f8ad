import type { ClientSession } from 'mongoose';
import { isBlocked } from '../domain/event.ts';
import type { EventRecorder } from '../domain/record-events.ts';
import type { ChunkStore } from './chunk.store.ts';
import type { EventStore } from './event.store.ts';
import type { RollupStore } from './rollup.store.ts';
import type { RunStore } from './run.store.ts';

/**
 * Writes with the given MongoDB session, so that all calls of one transaction take effect together. Blocked events are
 * documents, which are listed by page and found by id; all others, and the starts of runs, are packed into chunks. What
 * releases up to 0.1 recorded is known too.
 */
export function createEventRecorder(stores: {
  events: EventStore;
  chunks: ChunkStore;
  runs: RunStore;
  rollups: RollupStore;
}): EventRecorder<ClientSession> {
  const { events, chunks, runs, rollups } = stores;
  return {
    async knownIdentities(session, asked) {
      const known = await events.knownIdentities(session, asked);
      for (const identity of await chunks.knownIdentities(session, asked)) known.add(identity);
      return known;
    },
    async knownRunStarts(session, asked) {
      const known = await chunks.knownRunStarts(session, asked);
      for (const [key, time] of await runs.knownStarts(session, asked)) {
        known.set(key, Math.min(time, known.get(key) ?? Infinity));
      }
      return known;
    },
    async insert(session, fresh, starts) {
      await events.insert(session, fresh.filter(isBlocked));
      await chunks.insert(
        session,
        fresh.filter((event) => !isBlocked(event)),
        starts,
      );
    },
    addToRollups: rollups.add,
    rollupPartsOf: rollups.partsOf,
  };
}
