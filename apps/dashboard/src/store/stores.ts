import type { ClientSession, Connection } from 'mongoose';
import type { EventReader } from '../domain/event.reader.ts';
import type { EventRecorder } from '../domain/record-events.ts';
import type { SettlementReader } from '../domain/settlement.list.ts';
import type { RunStartStore, TallyStore } from '../domain/tallies.ts';
import { createBlockedStore } from './blocked.store.ts';
import { createChunkStore } from './chunks/chunk.store.ts';
import { createChunkTallies } from './chunks/chunk.tallies.ts';
import { createEventReader } from './event.reader.ts';
import { createEventRecorder } from './event.recorder.ts';
import { createNameStore } from './rollups/name.store.ts';
import { rollupSeconds } from './rollups/rollup.collection.ts';
import { createRollupStore } from './rollups/rollup.store.ts';

/** The domain's access to stored data. */
export interface Stores {
  recorder: EventRecorder<ClientSession>;
  events: EventReader;
  settlements: SettlementReader;
  /** The answers of these stores add up, as do those of `runStarts`. */
  tallies: TallyStore[];
  runStarts: RunStartStore[];
}

/** Registers the models on the connection, which creates their collections and indexes when it starts. */
export function createStores(connection: Connection, retentionSeconds: number): Stores {
  const blocked = createBlockedStore(connection, retentionSeconds);
  const chunks = createChunkStore(connection, retentionSeconds);
  const names = createNameStore(connection, rollupSeconds(retentionSeconds));
  const rollups = createRollupStore(connection, retentionSeconds, names);
  return {
    recorder: createEventRecorder({ blocked, chunks, names, rollups }),
    events: createEventReader({ blocked, chunks }),
    settlements: chunks,
    tallies: [rollups, blocked, createChunkTallies(chunks)],
    runStarts: [rollups, chunks],
  };
}
