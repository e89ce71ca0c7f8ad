import { crc32 } from 'node:zlib';
import type { LogRecord } from '../event-log.ts';
import { splitRecords } from '../log.records.ts';
import type { Chunk } from './log.store.ts';

/** A stored batch: small enough that a reader can bound what it fetches, by documents. */
const CHUNK_LIMITS = { maxBytes: 256 * 1024, maxRecords: 1_000 };

/**
 * The records by partition, in chunks that keep their order. CRC-32 spreads short ids evenly, and every process
 * computes the same.
 */
export function toChunks(records: readonly LogRecord[], partitions: number): Chunk[] {
  const byPartition = Map.groupBy(records, ({ key }) => crc32(key) % partitions);
  return [...byPartition].flatMap(([partition, own]) =>
    splitRecords(own, CHUNK_LIMITS).map((part) => ({ partition, records: part })),
  );
}
