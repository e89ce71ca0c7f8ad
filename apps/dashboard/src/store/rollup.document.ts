import type { TenantId } from '@tollkeeper/kernel';
import type { mongo } from 'mongoose';
import type { RollupKey, RowKind } from '../domain/rollup.ts';
import type { Parts } from '../domain/rollup.parts.ts';

/** A part of a roll-up. Part 0 is always there, and holds rows of both kinds. Any other part holds rows of one kind. */
export interface RollupDocument {
  /** {@link partKey} of the part. */
  _id: string;
  tenantId: TenantId;
  /** Start of the hour or the day. */
  start: Date;
  /** Of part 0: into how many parts the rows of a kind are divided, unless it is one. */
  parts?: Partial<Parts>;
  /** Of part 0, packed: what the whole workspace did. */
  workspace?: mongo.Binary;
  /** Of part 0, packed: what was settled under plans. Absent when no settlement named one. */
  plans?: mongo.Binary;
  /** Packed: what the agents of this part did, by slot. */
  agents?: mongo.Binary;
  /** Of a day, packed: what the agents of this part did in the whole of it. */
  days?: mongo.Binary;
}

/** Into how many parts the rows of a kind are divided. */
export function partsIn(first: RollupDocument | undefined, kind: RowKind): number {
  return first?.parts?.[kind] ?? 1;
}

/** The key of part 0, such as `ws_1|day|2026-11-22|0` and `ws_1|hour|2026-11-22T14|0`. */
export function firstKey({ tenantId, period, start }: RollupKey): string {
  const time = new Date(start).toISOString().slice(0, period === 'day' ? 10 : 13);
  return `${tenantId}|${period}|${time}|0`;
}

/** The key of a part of the roll-up that has a part with `key`, such as `ws_1|day|2026-11-22|days3`. */
export function partKey(key: string, kind: RowKind, part: number): string {
  return `${keyPrefix(key, part === 0 ? '' : kind)}${part}`;
}

/** What the keys of the parts of a kind begin with, but for part 0. A number follows. */
export function keyPrefix(key: string, kind: RowKind | ''): string {
  return key.slice(0, key.lastIndexOf('|') + 1) + kind;
}

export function bytesOf(binary: mongo.Binary | undefined): Uint8Array | undefined {
  return binary?.buffer.subarray(0, binary.position);
}
