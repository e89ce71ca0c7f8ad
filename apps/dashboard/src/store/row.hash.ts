import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { rowKey, type Row } from '../domain/rollup.ts';
import { HASH_BITS, NAME_BITS } from '../domain/rollup.parts.ts';

const ROW_BYTES = (HASH_BITS - NAME_BITS) / 8;
const NAME_BYTES = NAME_BITS / 8;
const REMEMBERED = 10_000;

/**
 * Where a row lies among the others: bits of its name, then bits of all of its key. Stored roll-ups depend on it, so it
 * never changes. Senders choose names, so it is a hash that nobody can find many alike of.
 */
export function hashOfRow(row: Pick<Row, 'name' | 'model'>): number {
  return hashOfName(row.name) + hash('sha256', rowKey(row), 'buffer').readUIntBE(0, ROW_BYTES);
}

/** {@link hashOfRow}, which remembers what was asked last: live events are of the same rows in each batch. */
export function createRowHash(): typeof hashOfRow {
  const known = new LRUCache<string, number>({ max: REMEMBERED });
  return (row) => {
    const key = rowKey(row);
    let at = known.get(key);
    if (at === undefined) known.set(key, (at = hashOfRow(row)));
    return at;
  };
}

/** The least hash of a row of that name. */
export function hashOfName(name: string): number {
  return hash('sha256', name, 'buffer').readUIntBE(0, NAME_BYTES) * 2 ** (HASH_BITS - NAME_BITS);
}
