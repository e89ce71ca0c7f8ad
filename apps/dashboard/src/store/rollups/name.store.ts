import type { TenantId } from '@tollkeeper/kernel';
import { driverCollection } from '@tollkeeper/mongo';
import { LRUCache } from 'lru-cache';
import { Schema, type mongo, type ClientSession, type Connection } from 'mongoose';
import { MAX_NAMES, NAME_KINDS, type NameKind, type NamesOfDay } from '../../domain/names.ts';
import type { ReadMeter } from '../../domain/reads.ts';
import { PERIOD_MS } from '../../domain/rollup.ts';
import { bytesOf, packHashes, unpackHashes } from './rollup.document.ts';
import { hashOfName } from './row.hash.ts';

/** The names with rows of their own in a workspace's roll-ups, by UTC day. */
export interface NameStore {
  /**
   * Adds the names, up to {@link MAX_NAMES} of a kind, and returns those beyond the limit, without days that have none.
   * Call it in the transaction that adds to the roll-ups.
   */
  add(session: ClientSession | undefined, named: readonly NamesOfDay[]): Promise<NamesOfDay[]>;
  /** The models stored for these days, or the values of a label, by {@link hashOfName}. */
  models(session: ClientSession, of: ModelsOf, meter: ReadMeter): Promise<ReadonlyMap<number, string>>;
}

interface ModelsOf {
  tenantId: TenantId;
  days: ReadonlySet<number>;
  label: string | undefined;
}

/**
 * The hashes of the first names of a workspace's day, in the order of their events; or a piece of the models' names.
 * The values of a label have documents of their own, in which they are in place of the models.
 */
interface NamesDocument extends Partial<Record<NameKind, mongo.Binary>> {
  /**
   * Such as `ws_1|2026-11-22`, or `ws_1|2026-11-22|0` for a piece of the models. For the values of a label,
   * `ws_1|2026-11-22|label:team` and `ws_1|2026-11-22|label:team|0`.
   */
  _id: string;
  tenantId: TenantId;
  /** Start of the day. In a piece of the models, start of the next day, since the rows of all hours need the names. */
  start: Date;
  /** In a piece: {@link MODELS_EACH} of the models, in the same order. */
  models?: string[];
}

/** A piece is rewritten whenever it gets a model, so it is small. */
const MODELS_EACH = 64;

type Hashes = Record<NameKind, ReadonlySet<number>>;
const NONE: Hashes = { model: new Set(), plan: new Set() };

/** How many hashes are remembered, over all workspaces and days. */
const REMEMBERED = 200_000;

export function createNameStore(connection: Connection, expireAfterSeconds: number): NameStore {
  const schema = new Schema<NamesDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      start: { type: Date, required: true },
      model: Schema.Types.Buffer,
      plan: Schema.Types.Buffer,
      models: { type: [String], default: undefined },
    },
    { collection: 'names', versionKey: false },
  );
  schema.index({ start: 1 }, { expireAfterSeconds });
  const names = driverCollection<NamesDocument>(connection, 'Names', schema);
  // Hashes as they were read, without the additions of the reading transaction, which may abort. None is ever removed.
  const known = new LRUCache<string, Hashes>({
    maxSize: REMEMBERED,
    sizeCalculation: (hashes) => 1 + NAME_KINDS.reduce((sum, kind) => sum + hashes[kind].size, 0),
  });

  /** The stored names of these days. Days whose answer is already decided are not read. */
  async function heldOf(session: ClientSession | undefined, days: readonly AskedDay[]): Promise<Map<string, Hashes>> {
    const held = new Map(days.map(({ _id }) => [_id, known.get(_id) ?? NONE]));
    const unknown = days.filter(({ _id, asked }) => !isDecided(held.get(_id)!, asked)).map(({ _id }) => _id);
    if (unknown.length === 0) return held;
    for (const { _id, model, plan } of await names.find({ _id: { $in: unknown } }, session && { session }).toArray()) {
      const hashes = { model: new Set(unpackHashes(bytesOf(model)!)), plan: new Set(unpackHashes(bytesOf(plan)!)) };
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
      for (const day of days) {
        const before = held.get(day._id)!;
        const { after, left } = take(day, before);
        if (left.model.size + left.plan.size > 0) further.push(left);
        if (NAME_KINDS.some((kind) => after[kind].size > before[kind].size))
          writes.push(...writesOf(day, before, after));
      }
      if (writes.length > 0) await names.bulkWrite(writes, session && { session });
      return further;
    },
    async models(session, { tenantId, days, label }, meter) {
      const byHash = new Map<number, string>();
      if (days.size === 0) return byHash;
      // The number of a piece follows. ':' is the character after all digits.
      const pieces = [...days].map((day) => ({
        _id: { $gt: `${keyOf(tenantId, day, label)}|`, $lt: `${keyOf(tenantId, day, label)}|:` },
      }));
      const known = new Set<string>();
      for await (const { models = [] } of names.find({ $or: pieces }, { session, projection: { models: 1 } })) {
        for (const model of models) {
          if (known.has(model)) continue;
          known.add(model);
          meter.take(model.length);
          byHash.set(hashOfName(model), model);
        }
      }
      return byHash;
    },
  };
}

function keyOf(tenantId: TenantId, day: number, label: string | undefined): string {
  const ofDay = `${tenantId}|${new Date(day).toISOString().slice(0, 10)}`;
  return label === undefined ? ofDay : `${ofDay}|label:${label}`;
}

interface AskedDay extends Pick<NamesOfDay, 'tenantId' | 'day' | 'label'> {
  _id: string;
  /** The requested names by their hashes. */
  asked: Record<NameKind, Map<number, string>>;
}

function toAsked({ model, plan, ...of }: NamesOfDay): AskedDay {
  return { _id: keyOf(of.tenantId, of.day, of.label), ...of, asked: { model: byHash(model), plan: byHash(plan) } };
}

/** Whether each name is one of the `held`, or no more names may be added. */
function isDecided(held: Hashes, asked: AskedDay['asked']): boolean {
  return NAME_KINDS.every(
    (kind) => held[kind].size >= MAX_NAMES || [...asked[kind].keys()].every((hash) => held[kind].has(hash)),
  );
}

/** The names of the day plus the requested ones, while there is room; `left` are the others. */
function take({ _id, asked, ...of }: AskedDay, before: Hashes): { after: Hashes; left: NamesOfDay } {
  const after = { model: new Set(before.model), plan: new Set(before.plan) };
  const left: NamesOfDay = { ...of, model: new Set(), plan: new Set() };
  for (const kind of NAME_KINDS) {
    for (const [hash, name] of asked[kind]) {
      if (after[kind].size < MAX_NAMES) after[kind].add(hash);
      else if (!after[kind].has(hash)) left[kind].add(name);
    }
  }
  return { after, left };
}

function writesOf(
  { _id, tenantId, day, asked }: AskedDay,
  before: Hashes,
  after: Hashes,
): mongo.AnyBulkWriteOperation<NamesDocument>[] {
  const packed = { model: packHashes([...after.model]), plan: packHashes([...after.plan]) };
  const replacement = { tenantId, start: new Date(day), ...packed };
  const taken = [...after.model].slice(before.model.size).map((hash) => asked.model.get(hash)!);
  const pieces = Map.groupBy(taken, (_, index) => Math.floor((before.model.size + index) / MODELS_EACH));
  return [
    { replaceOne: { filter: { _id }, replacement, upsert: true } },
    ...[...pieces].map(([piece, models]) => {
      const $setOnInsert = { tenantId, start: new Date(day + PERIOD_MS.day) };
      const update = { $push: { models: { $each: models } }, $setOnInsert };
      return { updateOne: { filter: { _id: `${_id}|${piece}` }, update, upsert: true } };
    }),
  ];
}

function byHash(names: Iterable<string>): Map<number, string> {
  return new Map([...names].map((name) => [hashOfName(name), name]));
}
