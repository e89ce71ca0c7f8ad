import { EventEmitter, once } from 'node:events';
import type { LogStore, Topic } from './log.store.ts';

/** What this process knows of the ends of a topic's partitions. */
export interface EndOffsets {
  /** Takes over ends that were just read or written, and wakes whoever waits for them. Older ends change nothing. */
  learn(topic: Topic): void;
  /** The ends as they truly are. Rejects when the topic does not exist. */
  settle(): Promise<readonly number[]>;
  /** The partition's end once it is beyond `offset`; rejects when `signal` aborts. */
  beyond(partition: number, offset: number, signal: AbortSignal): Promise<number>;
  /** Starts to look for appends of other processes, until as many `unwatch` calls. */
  watch(): void;
  unwatch(): void;
}

/**
 * One poller per process and topic, however many consumers and partitions wait: an append in this process wakes them at
 * once, one elsewhere after at most `pollIntervalMs`.
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
    // An outage shows in the consumers' heartbeats, which log it; the next poll finds out when it is over.
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
