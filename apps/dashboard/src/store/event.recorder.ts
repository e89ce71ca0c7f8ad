import type { ClientSession } from 'mongoose';
import type { EventRecorder } from '../domain/record-events.ts';
import type { EventStore } from './event.store.ts';
import type { RollupStore } from './rollup.store.ts';
import type { RunStore } from './run.store.ts';

/** Writes with the given MongoDB session, so that all calls of one transaction take effect together. */
export function createEventRecorder(stores: {
  events: EventStore;
  runs: RunStore;
  rollups: RollupStore;
}): EventRecorder<ClientSession> {
  return {
    knownIdentities: stores.events.knownIdentities,
    knownRunStarts: stores.runs.knownStarts,
    insertEvents: stores.events.insert,
    saveRunStarts: stores.runs.saveStarts,
    addToRollups: stores.rollups.add,
    rollupPartsOf: stores.rollups.partsOf,
  };
}
