import { roomFor, startSlices, type TenantId } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import { mongo, type ClientSession } from 'mongoose';
import { ROW_KINDS, type RollupDelta, type Row, type RowKind } from '../../domain/rollup.ts';
import { partOf, type Part, type PartCounts } from '../../domain/rollup.parts.ts';
import { addToRows, addToWorkspace } from './rollup.codec.ts';
import { findRollups, type RollupCollection } from './rollup.collection.ts';
import {
  bytesOf,
  directoryKey,
  packedParts,
  partKey,
  partsIn,
  workspaceKey,
  type RollupDocument,
} from './rollup.document.ts';
import { piecesAfter } from './rollup.splitter.ts';
import { createRowHash } from './row.hash.ts';

export interface RollupWriter {
  /**
   * Adds the deltas to their roll-ups. `names` must have taken their models. Not idempotent: call it in the transaction
   * that inserts the events.
   */
  add(session: ClientSession | undefined, deltas: RollupDelta[]): Promise<void>;
  /** The most parts of each kind seen so far in a roll-up of the workspace. */
  partsOf(tenantId: TenantId): PartCounts;
}

/** Workspaces whose number of parts is remembered. */
const KNOWN_WORKSPACES = 10_000;
const UNKNOWN_PARTS: PartCounts = { agents: Infinity, days: Infinity, plans: Infinity, labels: Infinity };

export function createRollupWriter(rollups: RollupCollection): RollupWriter {
  const hashOf = createRowHash();
  const partsSeen = new LRUCache<TenantId, PartCounts>(roomFor(KNOWN_WORKSPACES));

  return {
    async add(session, deltas) {
      if (deltas.length === 0) return;
      const firstKeys = deltas.map(workspaceKey).flatMap((key) => [key, directoryKey(key)]);
      const stored = await findRollups(rollups, session, firstKeys);
      const changes = deltas.map((delta) => {
        const directory = stored.get(directoryKey(workspaceKey(delta)));
        return { delta, kinds: ROW_KINDS.map((kind) => changeOf(kind, delta, partsIn(directory, kind), hashOf)) };
      });
      const others = changes.flatMap(({ delta, kinds }) =>
        kinds.flatMap(({ kind, parts, added }) =>
          parts.length === 1 ? [] : [...added.keys()].map((part) => partKey(workspaceKey(delta), kind, parts[part]!)),
        ),
      );
      for (const [key, document] of await findRollups(rollups, session, others)) stored.set(key, document);
      const writes: mongo.AnyBulkWriteOperation<RollupDocument>[] = [];
      for (const { delta, kinds } of changes) {
        for (const document of await changedDocuments(delta, kinds, stored)) {
          writes.push({ replaceOne: { filter: { _id: document._id }, replacement: document, upsert: true } });
        }
        const seen = partsSeen.get(delta.tenantId);
        const counts = kinds.map(({ kind, parts }) => [kind, Math.max(parts.length, seen?.[kind] ?? 1)]);
        partsSeen.set(delta.tenantId, Object.fromEntries(counts) as PartCounts);
      }
      await rollups.bulkWrite(writes, session && { session });
    },
    partsOf: (tenantId) => partsSeen.get(tenantId) ?? UNKNOWN_PARTS,
  };
}

/** Additions to the rows of a kind. */
interface Change {
  kind: RowKind;
  /** The existing parts, in order. */
  parts: readonly Part[];
  /** By the index of the part. */
  added: Map<number, Row[]>;
}

function changeOf(kind: RowKind, delta: RollupDelta, parts: readonly Part[], hashOf: (row: Row) => number): Change {
  const partOfRow = (row: Row): number => (parts.length === 1 ? 0 : partOf(parts, hashOf(row)));
  return { kind, parts, added: Map.groupBy(delta[kind].values(), partOfRow) };
}

/**
 * The documents that `delta` changes, in their new state. Hundreds of parts take a tenth of a second or more, so other
 * work gets its turns in between.
 */
async function changedDocuments(
  delta: RollupDelta,
  kinds: readonly Change[],
  stored: ReadonlyMap<string, RollupDocument>,
): Promise<Iterable<RollupDocument>> {
  const { tenantId, start } = delta;
  const changed = new Map<string, RollupDocument>();
  const slices = startSlices();
  const change = (_id: string): RollupDocument => {
    let document = changed.get(_id);
    if (document === undefined) {
      document = { ...{ _id, tenantId, start: new Date(start) }, ...stored.get(_id) };
      changed.set(_id, document);
    }
    return document;
  };
  const key = workspaceKey(delta);
  const ofWorkspace = change(key);
  ofWorkspace.workspace = new mongo.Binary(addToWorkspace(bytesOf(ofWorkspace.workspace), start, delta.workspace));
  for (const { kind, parts, added } of kinds) {
    const divided = new Map<Part, Part[]>();
    for (const [index, rows] of added) {
      if (slices.usedUp()) await slices.next();
      const part = parts[index]!;
      const document = change(partKey(key, kind, part));
      const pieces = [...piecesAfter(part, (hashed) => addToRows(bytesOf(document[kind]), start, rows, hashed))];
      // Divided rows leave the document of the workspace.
      delete document[kind];
      for (const { part, rows } of pieces) change(partKey(key, kind, part))[kind] = new mongo.Binary(rows);
      if (pieces.length > 1) {
        divided.set(
          part,
          pieces.map((piece) => piece.part),
        );
      }
    }
    if (divided.size === 0) continue;
    if (parts.length === 1) ofWorkspace.divided = [...(ofWorkspace.divided ?? []), kind];
    const after = change(directoryKey(key));
    after.starts = { ...after.starts, [kind]: packedParts(parts.flatMap((part) => divided.get(part) ?? part)) };
  }
  return changed.values();
}
