import { EventEmitter, once } from 'node:events';
import type { Logger } from '@tollkeeper/runtime';
import type { KafkaMessage } from 'kafkajs';
import type { ReadRecord } from '../event-log.ts';
import { type PartitionSource, startOffset } from '../partition.worker.ts';
import { MessageRecord } from './message.record.ts';
import type { PartitionBounds } from './topic.admin.ts';

/** Fetching pauses when at least the first number of bytes waits for the handler, and resumes at the second. */
const FULL_BYTES = 4 * 1024 * 1024;
const LOW_BYTES = 1024 * 1024;
/**
 * Milliseconds that a full feed delays its fetcher before it pauses its partition. The fetcher also serves other
 * partitions.
 */
const PATIENCE_MS = 100;
/** Approximate bytes of a record besides its value. */
const RECORD_BYTES = 100;

/** A feed's calls to its fetcher. The fetcher begins the next fetch once `offer` has resolved. */
export interface PartitionFetcher {
  /** The next fetch starts at `offset`. */
  seek(offset: number): void;
  /** Fetches nothing of the partition until `resume`, and drops the result of a fetch in progress. */
  pause(): void;
  resume(): void;
}

export interface PartitionFeed extends PartitionSource {
  /** Takes fetched messages: at least one, in offset order. Resolves when the next fetch may begin. */
  offer(messages: readonly KafkaMessage[], endOffset: number): Promise<void>;
  /** Drops all waiting messages, and accepts none until the next `open`. */
  close(): void;
}

/**
 * Passes the fetched records of one partition to its worker, from the worker's position on.
 *
 * A fetch that was in progress during a seek or a rebalance returns records from another offset. So the feed accepts
 * only records that follow the last one. Otherwise, `next` rejects and the worker opens the feed again. If the same
 * records are then fetched again, retention has removed those in between.
 */
export function createPartitionFeed(deps: {
  fetcher: PartitionFetcher;
  /** The current bounds of the partition. */
  bounds(): Promise<PartitionBounds>;
  maxRecords: number;
  logger: Logger;
}): PartitionFeed {
  const { fetcher, maxRecords } = deps;
  const changed = new EventEmitter();
  const waiting = new WaitingMessages();
  let end = 0;
  /** The next expected offset; undefined while the feed is closed. */
  let expected: number | undefined;
  let gapEnd: number | undefined;
  let failure: Error | undefined;
  let paused = false;

  function close(): void {
    fetcher.pause();
    paused = true;
    waiting.clear();
    expected = undefined;
    failure = undefined;
    changed.emit('changed');
  }

  function refuse(first: number, due: number): void {
    close();
    gapEnd = first > due ? first : undefined;
    failure = new Error(`fetched records begin at offset ${first}, expected ${due}`);
    changed.emit('changed');
  }

  async function untilRoom(): Promise<void> {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    while (waiting.bytes >= FULL_BYTES && !patience.aborted) {
      await once(changed, 'changed', { signal: patience }).catch(() => undefined);
    }
    if (waiting.bytes < FULL_BYTES || paused) return;
    paused = true;
    fetcher.pause();
  }

  function take(): ReadRecord[] {
    const next = waiting.take(maxRecords);
    changed.emit('changed');
    if (paused && waiting.bytes <= LOW_BYTES) {
      paused = false;
      fetcher.resume();
    }
    return next.map((message) => new MessageRecord(message));
  }

  return {
    close,
    async open(position) {
      close();
      const { low, high } = await deps.bounds();
      expected = Math.max(startOffset(position, high, deps.logger), low);
      fetcher.seek(expected);
      paused = false;
      fetcher.resume();
    },
    async offer(messages, endOffset) {
      const [first] = messages;
      if (expected === undefined || first === undefined) return;
      const offset = Number(first.offset);
      if (offset !== expected && (offset < expected || offset !== gapEnd)) {
        refuse(offset, expected);
        return;
      }
      waiting.add(messages);
      expected = Number(messages.at(-1)?.offset) + 1;
      end = endOffset;
      changed.emit('changed');
      await untilRoom();
    },
    async next(signal) {
      for (;;) {
        signal.throwIfAborted();
        if (failure !== undefined) throw failure;
        if (!waiting.isEmpty) return { records: take(), endOffset: end };
        await once(changed, 'changed', { signal });
      }
    },
  };
}

/** Fetched messages that the worker has not taken yet. */
class WaitingMessages {
  bytes = 0;
  #messages: readonly KafkaMessage[] = [];
  #taken = 0;

  get isEmpty(): boolean {
    return this.#taken === this.#messages.length;
  }

  add(messages: readonly KafkaMessage[]): void {
    this.#messages = this.isEmpty ? messages : [...this.#messages.slice(this.#taken), ...messages];
    this.#taken = 0;
    this.bytes += bytesOf(messages);
  }

  take(count: number): readonly KafkaMessage[] {
    const next = this.#messages.slice(this.#taken, this.#taken + count);
    this.#taken += next.length;
    this.bytes -= bytesOf(next);
    return next;
  }

  clear(): void {
    this.#messages = [];
    this.#taken = 0;
    this.bytes = 0;
  }
}

function bytesOf(messages: readonly KafkaMessage[]): number {
  let total = 0;
  for (const { value } of messages) total += RECORD_BYTES + (value?.length ?? 0);
  return total;
}
