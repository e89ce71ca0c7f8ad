import { startSlices } from '@tollkeeper/kernel';
import type { ClientSession, mongo } from 'mongoose';
import type { ReadMeter } from '../../domain/reads.ts';
import { periodStart, type RollupKey, type RowKind } from '../../domain/rollup.ts';
import { partOf, partsOfName, type Part } from '../../domain/rollup.parts.ts';
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
import { hashOfName, hashOfRow, leastHashOf } from './row.hash.ts';

/** Parts that a read gets from the database in one batch. */
const PARTS_AT_ONCE = 100;

/** The slots of a roll-up that a plan reads. */
export interface Piece extends RollupKey {
  /** Index of the span that each slot belongs to. */
  spans: Map<number, number>;
}

/** Which rows to read: all of a name, or one. */
export interface RowsOf {
  name: string;
  /** In rows of labels, the value. */
  model?: string;
}

/**
 * Passes the rows of a kind to `each`, part by part: three months of thousands of agents are hundreds of megabytes, so
 * they are never all held at once. With `of`, it passes only the rows of that name, or the one row that also has that
 * model, and reads only the parts that can hold them. `eachWorkspace` gets the documents of the workspace, whole.
 */
export type ReadRows = (
  session: ClientSession,
  kind: RowKind,
  pieces: ReadonlyMap<string, Piece>,
  of: RowsOf | undefined,
  meter: ReadMeter,
  each: (row: PackedRow, piece: Piece) => void,
  eachWorkspace?: (document: RollupDocument) => void,
) => Promise<void>;

export function createReadRows(rollups: RollupCollection, names: Pick<NameStore, 'models'>): ReadRows {
  /** The ranges of keys of the parts that can hold rows `of`, for roll-ups with these workspace's documents. */
  async function rangesOf(
    session: ClientSession,
    kind: RowKind,
    keys: string[],
    of: RowsOf,
  ): Promise<{ $gte: string; $lte: string }[]> {
    const directories = await findRollups(rollups, session, keys.map(directoryKey), { [`starts.${kind}`]: 1 });
    return [...directories].map(([key, directory]) => {
      const [first, last] = partsWith(partsIn(directory, kind), of);
      return { $gte: partKey(key, kind, first), $lte: partKey(key, kind, last) };
    });
  }

  /** The models of divided rows, by their hashes. */
  async function modelsOf(
    session: ClientSession,
    kind: RowKind,
    pieces: readonly Piece[],
    of: RowsOf | undefined,
    meter: ReadMeter,
  ): Promise<ReadonlyMap<number, string>> {
    if (of?.model !== undefined) return new Map([[hashOfName(of.model), of.model]]);
    const days = new Set(pieces.map(({ start }) => periodStart('day', start)));
    const label = kind === 'labels' ? of?.name : undefined;
    return names.models(session, { tenantId: pieces[0]!.tenantId, days, label }, meter);
  }

  return async (session, kind, pieces, of, meter, each, eachWorkspace) => {
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
          if (isOf(row, of)) each(row, piece);
        }
      }
    };
    const ofWorkspace = { [kind]: 1, divided: 1, ...(eachWorkspace && { workspace: 1 }) };
    await readAll({ _id: { $in: [...pieces.keys()] } }, ofWorkspace);
    if (divided.length === 0) return;
    const ranges =
      of === undefined ? divided.map((key) => partKeys(key, kind)) : await rangesOf(session, kind, divided, of);
    // Only divided rows have hashes of models.
    const models = await modelsOf(
      session,
      kind,
      divided.map((key) => pieces.get(key)!),
      of,
      meter,
    );
    await readAll({ $or: ranges.map((_id) => ({ _id })) }, { [kind]: 1 }, models);
  };
}

/** The first and the last part that can hold rows `of`. */
function partsWith(parts: readonly Part[], { name, model }: RowsOf): [first: Part, last: Part] {
  if (model === undefined) return partsOfName(parts, leastHashOf(name));
  const part = parts[partOf(parts, hashOfRow({ name, model }))]!;
  return [part, part];
}

function isOf(row: PackedRow, of: RowsOf | undefined): boolean {
  return of === undefined || (row.name === of.name && (of.model === undefined || row.model === of.model));
}
