import { crc32 } from 'node:zlib';
import { AppError, type Clock } from '@tollkeeper/kernel';
import { MAX_RECORD_BYTES, type LogRecord } from '../event-log.ts';
import type { LogStore, PartitionAppend, StoredTopic } from './log.store.ts';

/** Bytes of values that may wait for the storage before further appends are refused. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Bytes that one transaction takes. */
const MAX_COMMIT_BYTES = 4 * 1024 * 1024;
/** A stored batch: small enough that a reader can bound what it fetches, by documents. */
const MAX_CHUNK_BYTES = 256 * 1024;
const MAX_CHUNK_RECORDS = 1_000;

interface WaitingAppend {
  records: readonly LogRecord[];
  bytes: number;
  resolve(): void;
  reject(error: AppError): void;
}

export interface AppendQueue {
  append(records: readonly LogRecord[]): Promise<void>;
  /** Resolves when nothing waits any more. */
  drained(): Promise<void>;
}

/**
 * Group commit for one topic: what arrives while a transaction is under way goes into the next one together, so many small
 * appends cost little more than one. A single transaction at a time also keeps the order per key.
 */
export function createAppendQueue(deps: {
  store: LogStore;
  topic: string;
  partitions: number;
  clock: Clock;
  onAppended(topic: StoredTopic, records: number): void;
  onFailed(error: unknown, records: number): void;
}): AppendQueue {
  let waiting: WaitingAppend[] = [];
  let waitingBytes = 0;
  let committing: Promise<void> | undefined;

  function takeNext(): WaitingAppend[] {
    let bytes = 0;
    const over = waiting.findIndex((append) => (bytes += append.bytes) > MAX_COMMIT_BYTES);
    const taken = waiting.splice(0, over === -1 ? waiting.length : Math.max(over, 1));
    waitingBytes -= bytesOf(taken);
    return taken;
  }

  async function commitAll(): Promise<void> {
    while (waiting.length > 0) {
      const taken = takeNext();
      const records = taken.flatMap((append) => append.records);
      try {
        const appended = await deps.store.append(deps.topic, toPartitions(records, deps.partitions), deps.clock());
        deps.onAppended(appended, records.length);
        for (const append of taken) append.resolve();
      } catch (cause) {
        deps.onFailed(cause, records.length);
        const error = unavailable('The event log cannot store records at the moment', 5, cause);
        for (const append of taken) append.reject(error);
      }
    }
    committing = undefined;
  }

  return {
    append(records) {
      return new Promise<void>((resolve, reject) => {
        const bytes = records.reduce((total, record) => total + sizeOf(record), 0);
        if (waiting.length > 0 && waitingBytes + bytes > MAX_WAITING_BYTES) {
          reject(unavailable('More records are waiting for the event log than it can take', 1));
          return;
        }
        waiting.push({ records, bytes, resolve, reject });
        waitingBytes += bytes;
        committing ??= commitAll();
      });
    },
    drained: () => committing ?? Promise.resolve(),
  };
}

/** The partition of a key. CRC-32 spreads short ids evenly, and every process computes the same. */
export function partitionOf(key: string, partitions: number): number {
  return crc32(key) % partitions;
}

function toPartitions(records: readonly LogRecord[], partitions: number): PartitionAppend[] {
  const byPartition = Map.groupBy(records, ({ key }) => partitionOf(key, partitions));
  return [...byPartition].map(([partition, own]) => ({ partition, chunks: toChunks(own) }));
}

function toChunks(records: LogRecord[]): LogRecord[][] {
  const chunks: LogRecord[][] = [];
  let bytes = Infinity;
  for (const record of records) {
    const chunk = chunks.at(-1);
    if (chunk === undefined || chunk.length === MAX_CHUNK_RECORDS || bytes + sizeOf(record) > MAX_CHUNK_BYTES) {
      chunks.push([record]);
      bytes = sizeOf(record);
    } else {
      chunk.push(record);
      bytes += sizeOf(record);
    }
  }
  return chunks;
}

/** Rejects what no adapter could store. */
export function requireValidRecords(records: readonly LogRecord[]): void {
  for (const { key, value } of records) {
    if (key.length === 0 || key.length > 256) throw new RangeError('A record key has 1 to 256 characters');
    if (value.length > MAX_RECORD_BYTES) {
      throw new AppError('payload_too_large', `One record holds at most ${MAX_RECORD_BYTES} bytes`);
    }
  }
}

function sizeOf({ key, value }: LogRecord): number {
  return key.length + value.length;
}

function bytesOf(appends: WaitingAppend[]): number {
  return appends.reduce((total, { bytes }) => total + bytes, 0);
}

function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError('service_unavailable', message, { retryAfterSeconds, cause });
}
