import { EventEmitter, once } from 'node:events';
import type { Logger } from '@tollkeeper/runtime';
import type { KafkaMessage } from 'kafkajs';
import type { ReadRecord } from '../event-log.ts';
import { type PartitionSource, startOffset } from '../partition.worker.ts';
import { MessageRecord } from './message.record.ts';
import type { PartitionBounds } from './topic.admin.ts';

/** Fetched bytes that may wait for the handler before no more are fetched, and at which fetching goes on. */
const FULL_BYTES = 4 * 1024 * 1024;
const LOW_BYTES = 1024 * 1024;
/**
 * Milliseconds that a full feed holds up its fetcher, which serves other partitions too, before it lets itself be left
 * out.
 */
const PATIENCE_MS = 100;
/** What a record without a value takes. */
const RECORD_BYTES = 100;

/** What a feed asks of its fetcher, which goes on with the next fetch once `offer` has resolved. */
export interface PartitionFetcher {
  /** The next fetch starts at `offset`. */
  seek(offset: number): void;
  /** Leaves the partition out until `resume`; what comes of a fetch under way is dropped. */
  pause(): void;
  resume(): void;
}

export interface PartitionFeed extends PartitionSource {
  /** Takes what was fetched, at least one message in offset order. Resolves when more may come. */
  offer(messages: readonly KafkaMessage[], endOffset: number): Promise<void>;
  /** Drops what it has and takes nothing until the next `open`. */
  close(): void;
}

/**
 * Passes what is fetched of one partition to the worker that asks for it, from the position that the worker gives.
 *
 * A fetch that was under way during a seek or a change of owner brings records from elsewhere. So only what follows the
 * last record is taken; else `next` rejects and the worker opens the feed again. Where the same comes again, the
 * records between are gone for good.
 */
export function createPartitionFeed(deps: {
  fetcher: PartitionFetcher;
  /** The partition's bounds as they are now. */
  bounds(): Promise<PartitionBounds>;
  maxRecords: number;
  logger: Logger;
}): PartitionFeed {
  const { fetcher, maxRecords } = deps;
  const changed = new EventEmitter();
  let waiting: readonly KafkaMessage[] = [];
  /** How many of those that wait have been taken. */
  let taken = 0;
  let waitingBytes = 0;
  let end = 0;
  /** The offset that has to come next; undefined while the feed is closed. */
  let expected: number | undefined;
  let gapEnd: number | undefined;
  let failure: Error | undefined;
  let paused = false;

  function close(): void {
    fetcher.pause();
    paused = true;
    waiting = [];
    taken = 0;
    waitingBytes = 0;
    expected = undefined;
    failure = undefined;
    changed.emit('changed');
  }

  function refuse(first: number, due: number): void {
    close();
    gapEnd = first > due ? first : undefined;
    failure = new Error(`records from offset ${first} on were fetched where ${due} is due`);
    changed.emit('changed');
  }

  async function untilRoom(): Promise<void> {
    const patience = AbortSignal.timeout(PATIENCE_MS);
    while (waitingBytes >= FULL_BYTES && !patience.aborted) {
      await once(changed, 'changed', { signal: patience }).catch(() => undefined);
    }
    if (waitingBytes < FULL_BYTES || paused) return;
    paused = true;
    fetcher.pause();
  }

  function take(): ReadRecord[] {
    const next = waiting.slice(taken, taken + maxRecords);
    taken += next.length;
    waitingBytes -= bytesOf(next);
    changed.emit('changed');
    if (paused && waitingBytes <= LOW_BYTES) {
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
      waiting = taken === waiting.length ? messages : [...waiting.slice(taken), ...messages];
      taken = 0;
      waitingBytes += bytesOf(messages);
      expected = Number(messages.at(-1)?.offset) + 1;
      end = endOffset;
      changed.emit('changed');
      await untilRoom();
    },
    async next(signal) {
      for (;;) {
        signal.throwIfAborted();
        if (failure !== undefined) throw failure;
        if (taken < waiting.length) return { records: take(), endOffset: end };
        await once(changed, 'changed', { signal });
      }
    },
  };
}

function bytesOf(messages: readonly KafkaMessage[]): number {
  let total = 0;
  for (const { value } of messages) total += RECORD_BYTES + (value?.length ?? 0);
  return total;
}
