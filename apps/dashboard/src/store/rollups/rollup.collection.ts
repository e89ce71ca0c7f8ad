import { driverCollection } from '@tollkeeper/mongo';
import { Schema, type ClientSession, type Connection, type mongo } from 'mongoose';
import { ROW_KINDS } from '../../domain/rollup.ts';
import type { RollupDocument } from './rollup.document.ts';

export type RollupCollection = mongo.Collection<RollupDocument>;

/**
 * An overview compares a span with the one of equal length before it. The longest has 400 days, so its comparison
 * reaches 800 days back. Roll-ups are kept that long even if raw events, which are many more, have a shorter retention.
 */
const MIN_RETENTION_SECONDS = 802 * 86_400;

/** How many seconds after their start roll-ups are kept. */
export function rollupSeconds(retentionSeconds: number): number {
  return Math.max(retentionSeconds, MIN_RETENTION_SECONDS);
}

/**
 * Roll-ups by hour and day, kept for `retentionSeconds` after their start, but at least {@link MIN_RETENTION_SECONDS}.
 */
export function createRollupCollection(connection: Connection, retentionSeconds: number): RollupCollection {
  const rows = Object.fromEntries(ROW_KINDS.map((kind) => [kind, Schema.Types.Buffer]));
  const schema = new Schema<RollupDocument>(
    {
      _id: { type: String, required: true },
      tenantId: { type: String, required: true },
      start: { type: Date, required: true },
      workspace: Schema.Types.Buffer,
      ...rows,
      divided: { type: [String], default: undefined },
      starts: rows,
    },
    { collection: 'rollups', versionKey: false },
  );
  schema.index({ start: 1 }, { expireAfterSeconds: rollupSeconds(retentionSeconds) });
  // The driver's collection: this is a hot path, and every value that is read or written is typed or made here.
  return driverCollection<RollupDocument>(connection, 'Rollup', schema);
}

/** Documents by their keys. */
export async function findRollups(
  rollups: RollupCollection,
  session: ClientSession | undefined,
  keys: string[],
  projection: mongo.Document = {},
): Promise<Map<string, RollupDocument>> {
  if (keys.length === 0) return new Map();
  const found = await rollups.find({ _id: { $in: keys } }, { ...(session && { session }), projection }).toArray();
  return new Map(found.map((document) => [document._id, document]));
}
