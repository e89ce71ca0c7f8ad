import { startSlices } from '@tollkeeper/kernel';
import type { ClientSession, mongo } from 'mongoose';
import type { ReadMeter } from '../../domain/reads.ts';
import { periodStart, type RollupKey, type RowKind } from '../../domain/rollup.ts';
import { partsOfName } from '../../domain/rollup.parts.ts';
import type { NameStore } from './name.store.ts';
import { packedRows, type PackedRow } from './rollup.codec.ts';
import { findRollups, type RollupCollection } from './rollup.collection.ts';
import {
  bytesOf,
  directoryKey,
  partKey,
  partKeys,
  partsIn,
  workspaceKeyOf,
  type RollupDocument,
} from './rollup.document.ts';
import { leastHashOf } from './row.hash.ts';

/** Parts that a read gets from the database in one batch. */
const PARTS_AT_ONCE = 100;

/** The slots of a roll-up that a plan reads. */
export interface Piece extends RollupKey {
  /** Index of the span that each slot belongs to. */
  spans: Map<number, number>;
}

/**
 * Passes the rows of a kind to `each`, part by part: three months of thousands of agents are hundreds of megabytes, so
 * they are never all held at once. With a `name`, it reads only the parts that can hold its rows. `eachWorkspace` gets
 * the documents of the workspace, whole.
 */
export type ReadRows = (
  session: ClientSession,
  kind: RowKind,
  pieces: ReadonlyMap<string, Piece>,
  name: string | undefined,
  meter: ReadMeter,
  each: (row: PackedRow, piece: Piece) => void,
  eachWorkspace?: (document: RollupDocument) => void,
) => Promise<void>;

export function createReadRows(rollups: RollupCollection, names: Pick<NameStore, 'models'>): ReadRows {
  /** The ranges of keys of the parts that can hold rows of `name`, for roll-ups with these workspace's documents. */
  async function rangesOf(
    session: ClientSession,
    kind: RowKind,
    keys: string[],
    name: string,
  ): Promise<{ $gte: string; $lte: string }[]> {
    const directories = await findRollups(rollups, session, keys.map(directoryKey), { [`starts.${kind}`]: 1 });
    return [...directories].map(([key, directory]) => {
      const [first, last] = partsOfName(partsIn(directory, kind), leastHashOf(name));
      return { $gte: partKey(key, kind, first), $lte: partKey(key, kind, last) };
    });
  }

  return async (session, kind, pieces, name, meter, each, eachWorkspace) => {
    if (pieces.size === 0) return;
    const divided: string[] = [];
    const slices = startSlices();
    const readAll = async (
      filter: mongo.Filter<RollupDocument>,
      projection: mongo.Document,
      models?: ReadonlyMap<number, string>,
    ): Promise<void> => {
      for await (const document of rollups.find(filter, { session, projection }).batchSize(PARTS_AT_ONCE)) {
        meter.take((document[kind]?.position ?? 0) + (document.workspace?.position ?? 0));
        if (document.divided?.includes(kind)) divided.push(document._id);
        if (document.workspace !== undefined) eachWorkspace?.(document);
        const piece = pieces.get(workspaceKeyOf(document._id))!;
        for (const row of packedRows(bytesOf(document[kind]), models)) {
          if (slices.usedUp()) await slices.next();
          each(row, piece);
        }
      }
    };
    const ofWorkspace = { [kind]: 1, divided: 1, ...(eachWorkspace && { workspace: 1 }) };
    await readAll({ _id: { $in: [...pieces.keys()] } }, ofWorkspace);
    if (divided.length === 0) return;
    const days = divided.map((key) => periodStart('day', pieces.get(key)!.start));
    // Only divided rows have hashes of models.
    const models = await names.models(session, pieces.get(divided[0]!)!.tenantId, new Set(days), meter);
    const ranges =
      name === undefined ? divided.map((key) => partKeys(key, kind)) : await rangesOf(session, kind, divided, name);
    await readAll({ $or: ranges.map((_id) => ({ _id })) }, { [kind]: 1 }, models);
  };
}
