import { EventEmitter, once } from 'node:events';
import type { LogStore, Topic } from './log.store.ts';

/** The ends of a topic's partitions as known to this process. */
export interface EndOffsets {
  /** Stores ends that were just read or written, and wakes those who wait for them. Ignores older ends. */
  learn(topic: Topic): void;
  /** Reads the current ends from the storage. Rejects if the topic does not exist. */
  settle(): Promise<readonly number[]>;
  /** Resolves to the partition's end once that is beyond `offset`. Rejects when `signal` aborts. */
  beyond(partition: number, offset: number, signal: AbortSignal): Promise<number>;
  /** Polls for appends of other processes until `unwatch` has been called as often as `watch`. */
  watch(): void;
  unwatch(): void;
}

/**
 * One poller per process and topic, for all waiting consumers and partitions. Appends of this process wake them at
 * once, those of another process after at most `pollIntervalMs`.
 */
export function createEndOffsets(store: LogStore, topic: string, pollIntervalMs: number): EndOffsets {
  const ends: number[] = [];
  const advanced = new EventEmitter().setMaxListeners(0);
  let watchers = 0;
  let timer: NodeJS.Timeout | undefined;

  function learn({ endOffsets }: Topic): void {
    for (const [partition, end] of endOffsets.entries()) {
      if (end <= (ends[partition] ?? -1)) continue;
      ends[partition] = end;
      advanced.emit(String(partition));
    }
  }

  async function poll(): Promise<void> {
    // The heartbeats of the consumers log an outage. After it, a later poll succeeds.
    const found = await store.findTopic(topic).catch(() => null);
    if (found !== null) learn(found);
    if (watchers > 0) timer = setTimeout(() => void poll(), pollIntervalMs);
  }

  return {
    learn,
    async settle() {
      const settled = await store.settleTopic(topic);
      learn(settled);
      return settled.endOffsets;
    },
    async beyond(partition, offset, signal) {
      for (;;) {
        signal.throwIfAborted();
        const end = ends[partition] ?? 0;
        if (end > offset) return end;
        await once(advanced, String(partition), { signal });
      }
    },
    watch() {
      watchers += 1;
      if (watchers === 1) void poll();
    },
    unwatch() {
      watchers -= 1;
      if (watchers === 0) clearTimeout(timer);
    },
  };
}
