import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { DeferredKey, DeferredStore } from './deferred.store.ts';
import type { RecordBatch } from './event-log.ts';
import type { Deferral, RecordApplier } from './record.applier.ts';

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

/** Applies the deferred records of the partitions that this process has, in the background. */
export interface DeferredRecords {
  /** Finds the partition's deferred records. Call it after its position was read, and again after each failure. */
  begin(topic: string, partition: number): Promise<void>;
  /** Resolves when no more records of the partition are applied. */
  end(topic: string, partition: number): Promise<void>;
  deferralOf(batch: Pick<RecordBatch, 'topic' | 'partition'>): Deferral;
}

interface DeferredRecordsDeps {
  group: string;
  store: DeferredStore;
  applier: RecordApplier;
  metrics: Metrics;
  logger: Logger;
}

interface WaitingKey extends DeferredKey {
  /** Number of records. Too high for a while after another consumer had the partition. */
  count: number;
}

/**
 * Records of a key wait here if the key has more of them in a batch than fit into one transaction, as do all later ones
 * until none waits. So the order within a key stays, and other keys of the partition do not wait. The keys take turns,
 * one transaction at a time in this process: this is the room that all of them together leave to the others.
 */
export function createDeferredRecords(deps: DeferredRecordsDeps): DeferredRecords {
  const { group, store, logger } = deps;
  const deferredRecords = deps.metrics.gauge({
    name: 'event_log_deferred_records',
    help: 'Records waiting for earlier ones of their workspace, while those of others are applied',
    labelNames: ['group', 'topic', 'partition'],
  });
  /** In the order of their turns. */
  const waiting = new Map<string, WaitingKey>();
  let isWorking = false;
  let turn: Promise<void> | undefined;

  function report({ topic, partition }: Pick<DeferredKey, 'topic' | 'partition'>): void {
    let count = 0;
    for (const of of waiting.values()) if (of.topic === topic && of.partition === partition) count += of.count;
    deferredRecords.set({ group, topic, partition }, count);
  }

  function wait(of: DeferredKey, count: number): void {
    const id = idOf(of);
    const known = waiting.get(id);
    if (known === undefined) waiting.set(id, { ...of, count });
    else known.count += count;
    if (!isWorking) void work();
  }

  async function work(): Promise<void> {
    isWorking = true;
    let failures = 0;
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [id, of] = next;
      // To the end of the queue.
      waiting.delete(id);
      waiting.set(id, of);
      try {
        turn = applyOldest(deps, of);
        await turn;
        failures = 0;
      } catch (err) {
        failures += 1;
        const retryMs = Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** (failures - 1));
        logger.warn({ err, failures, retry_ms: retryMs }, 'deferred records could not be applied; trying again');
        await delay(retryMs, undefined, { ref: false });
      }
      if (waiting.get(id) !== of) continue;
      if (of.count <= 0) waiting.delete(id);
      report(of);
    }
    isWorking = false;
  }

  return {
    async begin(topic, partition) {
      for (const [key, count] of await store.counts(topic, partition)) {
        waiting.delete(idOf({ topic, partition, key }));
        wait({ topic, partition, key }, count);
      }
      report({ topic, partition });
    },
    async end(topic, partition) {
      for (const [id, of] of waiting) if (of.topic === topic && of.partition === partition) waiting.delete(id);
      deferredRecords.remove({ group, topic, partition });
      await turn?.catch(() => undefined);
    },
    deferralOf({ topic, partition }) {
      const begun = new Set<string>();
      return {
        isDeferred: (key) => begun.has(key) || waiting.has(idOf({ topic, partition, key })),
        defer: (key) => void begun.add(key),
        add: (session, records) => store.add(session, { topic, partition }, records),
        added(records) {
          for (const [key, ofKey] of Map.groupBy(records, ({ key }) => key))
            wait({ topic, partition, key }, ofKey.length);
          report({ topic, partition });
        },
      };
    },
  };
}

/** Applies the oldest records of the key. */
async function applyOldest({ store, applier }: DeferredRecordsDeps, of: WaitingKey): Promise<void> {
  const { count } = of;
  const run = await store.first(of);
  if (run === undefined) {
    // Others may have been added meanwhile.
    of.count -= count;
    return;
  }
  const { topic, partition } = of;
  let left = run.records;
  await applier.apply({
    ...{ topic, partition, records: run.records, from: run.from, end: run.records.at(-1)!.offset + 1 },
    move: (session, from, to) => store.move(session, of, { ...run, from: from ?? run.from }, to),
    stored(position) {
      const before = left.length;
      left = left.filter(({ offset }) => offset >= position);
      of.count -= before - left.length;
    },
  });
}

function idOf({ topic, partition, key }: DeferredKey): string {
  return `${topic}/${partition}/${key}`;
}
