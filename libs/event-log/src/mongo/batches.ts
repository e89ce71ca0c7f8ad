import { crc32 } from 'node:zlib';
import type { LogRecord } from '../event-log.ts';
import { splitRecords } from '../log.records.ts';
import type { Batch } from './log.store.ts';

/** Limits of a stored batch. It is small, so that limiting the documents of a fetch also limits its bytes. */
const BATCH_LIMITS = { maxBytes: 256 * 1024, maxRecords: 1_000 };

/** By the CRC-32 of the key: it distributes short ids evenly, and is the same in every process. */
export function partitionOf(key: string, partitions: number): number {
  return crc32(key) % partitions;
}

/** The records by partition, in batches that keep their order. */
export function toBatches(records: readonly LogRecord[], partitions: number): Batch[] {
  const byPartition = Map.groupBy(records, ({ key }) => partitionOf(key, partitions));
  return [...byPartition].flatMap(([partition, own]) =>
    splitRecords(own, BATCH_LIMITS).map((part) => ({ partition, records: part })),
  );
}
