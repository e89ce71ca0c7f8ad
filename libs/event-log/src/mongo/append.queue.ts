import { crc32 } from 'node:zlib';
import { AppError, type Clock } from '@tollkeeper/kernel';
import { MAX_RECORD_BYTES, type LogRecord } from '../event-log.ts';
import type { Chunk, LogStore, Topic } from './log.store.ts';

/** Bytes that may wait for the storage before further appends are refused. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;
/** Milliseconds that an append waits for its answer. What is under way by then may still be stored. */
const APPEND_TIMEOUT_MS = 10_000;
/** Bytes that one write takes. */
const MAX_WRITE_BYTES = 4 * 1024 * 1024;
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
 * Group commit for one topic: what arrives while a write is under way goes into the next one together, so many small appends
 * cost little more than one. A single write at a time also keeps the order per key.
 */
export function createAppendQueue(deps: {
  store: LogStore;
  topic: Topic;
  clock: Clock;
  onAppended(topic: Topic, records: number): void;
  onFailed(error: unknown, records: number): void;
}): AppendQueue {
  const { store, clock } = deps;
  const waiting: WaitingAppend[] = [];
  let waitingBytes = 0;
  let topic = deps.topic;
  let writing: Promise<void> | undefined;

  function takeNext(): WaitingAppend[] {
    let bytes = 0;
    const over = waiting.findIndex((append) => (bytes += append.bytes) > MAX_WRITE_BYTES);
    const taken = waiting.splice(0, over === -1 ? waiting.length : Math.max(over, 1));
    waitingBytes -= bytesOf(taken);
    return taken;
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      const taken = takeNext();
      const records = taken.flatMap((append) => append.records);
      try {
        topic = await store.append(topic, toChunks(records, topic.endOffsets.length), clock());
        deps.onAppended(topic, records.length);
        for (const append of taken) append.resolve();
      } catch (cause) {
        deps.onFailed(cause, records.length);
        const error = unavailable('The event log cannot store records at the moment', 5, cause);
        for (const append of taken) append.reject(error);
      }
    }
    writing = undefined;
  }

  /** What still waits is dropped; what is under way stays, so that no later append can overtake it. */
  function giveUp(append: WaitingAppend): void {
    const place = waiting.indexOf(append);
    if (place !== -1) waitingBytes -= bytesOf(waiting.splice(place, 1));
    append.reject(unavailable('The event log does not answer in time', 5));
  }

  return {
    async append(records) {
      const bytes = records.reduce((total, record) => total + sizeOf(record), 0);
      if (waiting.length > 0 && waitingBytes + bytes > MAX_WAITING_BYTES) {
        throw unavailable('More records are waiting for the event log than it can take', 1);
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const append = { records, bytes, resolve, reject };
      waiting.push(append);
      waitingBytes += bytes;
      writing ??= writeAll();
      const timer = setTimeout(() => giveUp(append), APPEND_TIMEOUT_MS);
      await promise.finally(() => clearTimeout(timer));
    },
    drained: () => writing ?? Promise.resolve(),
  };
}

/** The partition of a key. CRC-32 spreads short ids evenly, and every process computes the same. */
export function partitionOf(key: string, partitions: number): number {
  return crc32(key) % partitions;
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

function toChunks(records: readonly LogRecord[], partitions: number): Chunk[] {
  const byPartition = Map.groupBy(records, ({ key }) => partitionOf(key, partitions));
  return [...byPartition].flatMap(([partition, own]) => split(own).map((part) => ({ partition, records: part })));
}

function split(records: readonly LogRecord[]): LogRecord[][] {
  const parts: LogRecord[][] = [];
  let bytes = 0;
  for (const record of records) {
    const part = parts.at(-1);
    bytes += sizeOf(record);
    if (part === undefined || part.length === MAX_CHUNK_RECORDS || bytes > MAX_CHUNK_BYTES) {
      parts.push([record]);
      bytes = sizeOf(record);
    } else {
      part.push(record);
    }
  }
  return parts;
}

function sizeOf({ key, value }: LogRecord): number {
  return key.length + value.length;
}

function bytesOf(appends: readonly WaitingAppend[]): number {
  return appends.reduce((total, { bytes }) => total + bytes, 0);
}

export function unavailable(message: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError('service_unavailable', message, { retryAfterSeconds, cause });
}
