import type { TenantId } from '@tollkeeper/kernel';
import { mongo } from 'mongoose';
import type { Period, RollupKey, RowKind } from '../../domain/rollup.ts';
import { isUndivided, partsFrom, UNDIVIDED, type Part } from '../../domain/rollup.parts.ts';
import { HASH_BYTES } from './row.hash.ts';

/**
 * A roll-up has one document of the workspace, which also holds the rows while they are few. Once rows are divided,
 * each part is a document, and a directory lists the parts.
 */
export interface RollupDocument {
  /** {@link workspaceKey}, {@link partKey} or {@link directoryKey}. */
  _id: string;
  tenantId: TenantId;
  /** Start of the hour or the day. */
  start: Date;
  /** Packed: what the whole workspace did. */
  workspace?: mongo.Binary;
  /** Packed: what the agents of this part did, by slot. */
  agents?: mongo.Binary;
  /** In a day, packed: what the agents of this part did in the whole day. */
  days?: mongo.Binary;
  /** Packed: what was settled under the plans of this part. */
  plans?: mongo.Binary;
  /** Packed: the events with the values of tracked labels in this part. */
  labels?: mongo.Binary;
  /** In the workspace's document: the kinds whose rows are divided and so lie elsewhere. */
  divided?: RowKind[];
  /**
   * In a directory, by kind: where the parts after the first one start, {@link HASH_BYTES} each. Absent for a kind that
   * is not divided.
   */
  starts?: Partial<Record<RowKind, mongo.Binary>>;
}

/** How many characters of an RFC 3339 timestamp name the start of a roll-up. */
const START_LENGTH: Record<Period, number> = { day: 10, hour: 13 };

/** The key of the workspace's document, such as `ws_1|day|2026-11-22|0` and `ws_1|hour|2026-11-22T14|0`. */
export function workspaceKey({ tenantId, period, start }: RollupKey): string {
  const time = new Date(start).toISOString().slice(0, START_LENGTH[period]);
  return `${tenantId}|${period}|${time}|0`;
}

/** The key of the workspace's document, for the key of any document of its roll-up. */
export function workspaceKeyOf(key: string): string {
  return `${prefixOf(key)}0`;
}

/** The key of the document that lists the parts of a roll-up. */
export function directoryKey(key: string): string {
  return `${prefixOf(key)}parts`;
}

/** The key of a part, such as `ws_1|day|2026-11-22|days800000000000`: it ends with the least hash. */
export function partKey(key: string, kind: RowKind, part: Part): string {
  if (isUndivided(part)) return workspaceKeyOf(key);
  return `${prefixOf(key)}${kind}${part.start.toString(16).padStart(2 * HASH_BYTES, '0')}`;
}

/** The range of keys of the parts of a kind that is divided. */
export function partKeys(key: string, kind: RowKind): { $gte: string; $lt: string } {
  // 'g' is the character after all hexadecimal digits.
  return { $gte: `${prefixOf(key)}${kind}0`, $lt: `${prefixOf(key)}${kind}g` };
}

/** The parts of a kind, in the order of their hashes. `directory` is absent when no kind is divided. */
export function partsIn(directory: RollupDocument | undefined, kind: RowKind): readonly Part[] {
  const packed = bytesOf(directory?.starts?.[kind]);
  return packed === undefined ? UNDIVIDED : partsFrom(unpackHashes(packed));
}

/** The parts as a directory stores them. */
export function packedParts(parts: readonly Part[]): mongo.Binary {
  return packHashes(parts.slice(1).map(({ start }) => start));
}

export function packHashes(hashes: readonly number[]): mongo.Binary {
  const bytes = Buffer.alloc(hashes.length * HASH_BYTES);
  hashes.forEach((hash, index) => bytes.writeUIntBE(hash, index * HASH_BYTES, HASH_BYTES));
  return new mongo.Binary(bytes);
}

export function unpackHashes(packed: Uint8Array): number[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  return Array.from({ length: bytes.length / HASH_BYTES }, (_, index) =>
    bytes.readUIntBE(index * HASH_BYTES, HASH_BYTES),
  );
}

export function bytesOf(binary: mongo.Binary | undefined): Uint8Array | undefined {
  return binary?.buffer.subarray(0, binary.position);
}

function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('|') + 1);
}
