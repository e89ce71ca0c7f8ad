import { hash } from 'node:crypto';
import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { LRUCache } from 'lru-cache';
import { Schema, mongo, type ClientSession, type Connection } from 'mongoose';
import { MAX_NAMES, NAME_KINDS, type NameKind, type NamesOfDay } from '../domain/names.ts';
import { bytesOf } from './rollup.document.ts';

/** Which names the roll-ups of a workspace tell apart, by day of UTC. */
export interface NameStore {
  /**
   * Takes the names as long as there are at most {@link MAX_NAMES} of a kind, and returns the further ones; days
   * without any are left out. Call it in the transaction that adds to the roll-ups.
   */
  add(session: ClientSession | undefined, named: readonly NamesOfDay[]): Promise<NamesOfDay[]>;
}

/** The first names of a workspace and a day, as their hashes: {@link HASH_BYTES} each, in the order of their events. */
interface NamesDocument extends Record<NameKind, mongo.Binary> {
  /** Such as `ws_1|2026-11-22`. */
  _id: string;
  tenantId: TenantId;
  /** Start of the day. */
  start: Date;
}

type Hashes = Record<NameKind, ReadonlySet<number>>;
const NONE: Hashes = { model: new Set(), plan: new Set() };

/** Two of the names of a day have the same hash less often than disks lie. They would count as one for the limit. */
const HASH_BYTES = 6;
/** Hashes that are remembered, of all workspaces and days. */
const REMEMBERED = 200_000;

export function createNameStore(connection: Connection, expireAfterSeconds: number): NameStore {
  const schema = new Schema<NamesDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      start: { type: Date, required: true },
      model: Schema.Types.Buffer,
      plan: Schema.Types.Buffer,
    },
    { collection: 'names', versionKey: false },
  );
  schema.index({ start: 1 }, { expireAfterSeconds });
  const names = driverCollection<NamesDocument>(connection, 'Names', schema);
  // As they were read, so before what the reading transaction adds, which may not commit. None is ever taken out.
  const known = new LRUCache<string, Hashes>({
    maxSize: REMEMBERED,
    sizeCalculation: (hashes) => 1 + NAME_KINDS.reduce((sum, kind) => sum + hashes[kind].size, 0),
  });

  /** What is stored of these days, as far as the names asked for are not known already. */
  async function heldOf(session: ClientSession | undefined, days: readonly AskedDay[]): Promise<Map<string, Hashes>> {
    const held = new Map(days.map(({ _id }) => [_id, known.get(_id) ?? NONE]));
    const unknown = days.filter(({ _id, asked }) => !isDecided(held.get(_id)!, asked)).map(({ _id }) => _id);
    if (unknown.length === 0) return held;
    for (const { _id, model, plan } of await names.find({ _id: { $in: unknown } }, session && { session }).toArray()) {
      const hashes = { model: unpacked(model), plan: unpacked(plan) };
      known.set(_id, hashes);
      held.set(_id, hashes);
    }
    return held;
  }

  return {
    async add(session, named) {
      const days = named.map(toAsked);
      const held = await heldOf(session, days);
      const writes: mongo.AnyBulkWriteOperation<NamesDocument>[] = [];
      const further: NamesOfDay[] = [];
      for (const { _id, tenantId, day, asked } of days) {
        const before = held.get(_id)!;
        const after = { model: new Set(before.model), plan: new Set(before.plan) };
        const left: NamesOfDay = { tenantId, day, model: new Set(), plan: new Set() };
        for (const kind of NAME_KINDS) {
          for (const [hash, name] of asked[kind]) {
            if (after[kind].size < MAX_NAMES) after[kind].add(hash);
            else if (!after[kind].has(hash)) left[kind].add(name);
          }
        }
        if (left.model.size + left.plan.size > 0) further.push(left);
        if (NAME_KINDS.every((kind) => after[kind].size === before[kind].size)) continue;
        const replacement = { tenantId, start: new Date(day), model: packed(after.model), plan: packed(after.plan) };
        writes.push({ replaceOne: { filter: { _id }, replacement, upsert: true } });
      }
      if (writes.length > 0) await names.bulkWrite(writes, session && { session });
      return further;
    },
  };
}

interface AskedDay extends Pick<NamesOfDay, 'tenantId' | 'day'> {
  _id: string;
  /** The names by their hashes. */
  asked: Record<NameKind, Map<number, string>>;
}

function toAsked({ tenantId, day, model, plan }: NamesOfDay): AskedDay {
  const _id = `${tenantId}|${new Date(day).toISOString().slice(0, 10)}`;
  return { _id, tenantId, day, asked: { model: byHash(model), plan: byHash(plan) } };
}

/** Whether each name is one of the `held`, or there are as many of these as there may ever be. */
function isDecided(held: Hashes, asked: AskedDay['asked']): boolean {
  return NAME_KINDS.every(
    (kind) => held[kind].size >= MAX_NAMES || [...asked[kind].keys()].every((hash) => held[kind].has(hash)),
  );
}

function byHash(names: Iterable<string>): Map<number, string> {
  return new Map([...names].map((name) => [hash('sha256', name, 'buffer').readUIntBE(0, HASH_BYTES), name]));
}

function packed(hashes: ReadonlySet<number>): mongo.Binary {
  const bytes = Buffer.alloc(hashes.size * HASH_BYTES);
  [...hashes].forEach((hash, index) => bytes.writeUIntBE(hash, index * HASH_BYTES, HASH_BYTES));
  return new mongo.Binary(bytes);
}

function unpacked(binary: mongo.Binary): Set<number> {
  const bytes = Buffer.from(bytesOf(binary)!);
  const hashes = new Set<number>();
  for (let at = 0; at < bytes.length; at += HASH_BYTES) hashes.add(bytes.readUIntBE(at, HASH_BYTES));
  return hashes;
}
