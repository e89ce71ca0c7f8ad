import { hash } from 'node:crypto';
import { roomFor } from '@tollkeeper/kernel';
import { LRUCache } from 'lru-cache';
import { rowKey, type Row } from '../../domain/rollup.ts';
import { HASH_BITS, NAME_BITS } from '../../domain/rollup.parts.ts';

const ROW_BYTES = (HASH_BITS - NAME_BITS) / 8;
const NAME_BYTES = NAME_BITS / 8;
/** Two names of a day have the same hash, and would count as one, less often than disks fail silently. */
export const HASH_BYTES = HASH_BITS / 8;
const REMEMBERED = 10_000;
const hashes = new LRUCache<string, number>(roomFor(REMEMBERED));

/** The model of a row as it is stored: its name, or {@link hashOfName}. */
export type StoredModel = Row['model'] | number;
export interface StoredRow extends Pick<Row, 'name'> {
  model: StoredModel;
}

/**
 * The position of a row among the others: bits of its name, then bits of its name and model. It is the same whether the
 * row stores the model's name or its hash. Stored roll-ups depend on it, so it must never change. Senders choose names,
 * so it is a hash for which nobody can find many collisions.
 */
export function hashOfRow({ name, model }: StoredRow): number {
  const key = typeof model === 'string' ? hashOfName(model) : model;
  return leastHashOf(name) + hash('sha256', `${name}|${key ?? ''}`, 'buffer').readUIntBE(0, ROW_BYTES);
}

/** Identifies the name of a model, a plan or a value among those of a day. */
export function hashOfName(name: string): number {
  let known = hashes.get(name);
  if (known === undefined) hashes.set(name, (known = hash('sha256', name, 'buffer').readUIntBE(0, HASH_BYTES)));
  return known;
}

/** {@link hashOfRow} with a cache, since live events touch the same rows in each batch. */
export function createRowHash(): (row: Pick<Row, 'name' | 'model'>) => number {
  const known = new LRUCache<string, number>(roomFor(REMEMBERED));
  return (row) => {
    const key = rowKey(row);
    let at = known.get(key);
    if (at === undefined) known.set(key, (at = hashOfRow(row)));
    return at;
  };
}

/** The least hash of a row of that name. */
export function leastHashOf(name: string): number {
  return hash('sha256', name, 'buffer').readUIntBE(0, NAME_BYTES) * 2 ** (HASH_BITS - NAME_BITS);
}
