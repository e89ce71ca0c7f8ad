import type { Connection } from 'mongoose';
import type { RunStartStore, TallyStore } from '../../domain/tallies.ts';
import type { NameStore } from './name.store.ts';
import { createRollupCollection } from './rollup.collection.ts';
import { createRollupReader } from './rollup.reader.ts';
import { createRollupTallies } from './rollup.tallies.ts';
import { createRollupWriter, type RollupWriter } from './rollup.writer.ts';

export interface RollupStore extends RollupWriter, TallyStore, RunStartStore {}

/** Roll-ups by hour and day. */
export function createRollupStore(
  connection: Connection,
  retentionSeconds: number,
  names: Pick<NameStore, 'models'>,
): RollupStore {
  const rollups = createRollupCollection(connection, retentionSeconds);
  return {
    ...createRollupWriter(rollups),
    ...createRollupTallies(createRollupReader(connection, rollups, names)),
  };
}
