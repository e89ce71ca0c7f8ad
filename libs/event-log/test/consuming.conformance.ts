import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { ConsumerHandler, EventLog, LogConsumer } from '../src/event-log.ts';
import {
  type ConformanceStage,
  type EventLogHarness,
  KEYS,
  numbered,
  PARTITIONS,
  partitionsOf,
  valuesOf,
} from './conformance.stage.ts';
import { createGroupLedger } from './group.ledger.ts';

/** What consumers and their groups get of a log. */
export function describeConsuming(stage: ConformanceStage): void {
  const { consume } = stage;
  let harness: EventLogHarness;
  let log: EventLog;
  let topic: string;
  beforeEach(() => {
    ({ harness, log, topic } = stage.current());
  });

  describe('consuming', () => {
    it('starts at the earliest record without a position and at the position otherwise', async () => {
      await log.append(topic, numbered('ws_a', 0, 10));
      const first = createGroupLedger();
      await consume(first, { group: 'first' });
      await eventually(() => expect(first.values()).toEqual(valuesOf(numbered('ws_a', 0, 10))));
      expect(first.batches[0]).toMatchObject({ from: null, nextOffset: 10, endOffset: 10 });

      const partition = first.batches[0]?.partition ?? 0;
      const second = createGroupLedger(new Map([[partition, 6]]));
      await consume(second, { group: 'second' });
      await eventually(() => expect(second.values()).toEqual(valuesOf(numbered('ws_a', 6, 4))));
      expect(second.batches[0]).toMatchObject({ from: 6, nextOffset: 10 });
    });

    it('hands out batches of at most maxRecords, each from where the one before ended', async () => {
      const ledger = createGroupLedger();
      await log.append(topic, numbered('ws_a', 0, 25));
      await consume(ledger, { maxRecords: 10 });
      await eventually(() => expect(ledger.records()).toHaveLength(25));
      expect(ledger.batches.map(({ records }) => records.length)).toEqual([10, 10, 5]);
      expect(ledger.batches.map(({ from }) => from)).toEqual([null, 10, 20]);
      expect(ledger.batches.map(({ nextOffset }) => nextOffset)).toEqual([10, 20, 25]);
    });

    it('continues with what comes later, however many appends it has caught up with', async () => {
      await log.append(topic, numbered('ws_a', 0, 1));
      for (let appends = 1; appends <= 9; appends += 1) {
        const ledger = createGroupLedger();
        const consumer = await consume(ledger, { group: `group-${appends}`, maxRecords: 1 });
        await eventually(() => expect(ledger.records()).toHaveLength(appends));
        await log.append(topic, numbered('ws_a', appends, 1));
        await eventually(() => expect(ledger.values()).toEqual(valuesOf(numbered('ws_a', 0, appends + 1))));
        await consumer.stop();
      }
    });

    it('delivers a batch again, from the position, until the handler takes it, and nothing behind it before', async () => {
      const ledger = createGroupLedger();
      const attempts: (number | undefined)[] = [];
      const before = (batch: { records: { offset: number }[] }): void => {
        attempts.push(batch.records[0]?.offset);
        if (attempts.length === 2 || attempts.length === 3) throw new Error('the database is down');
      };
      await log.append(topic, numbered('ws_a', 0, 6));
      await consume(ledger, { maxRecords: 2, before });
      await eventually(() => expect(ledger.values()).toEqual(valuesOf(numbered('ws_a', 0, 6))));
      expect(attempts).toEqual([0, 2, 2, 2, 4]);
    });

    it('wakes a waiting consumer for a record of this process and for one of another', async () => {
      const ledger = createGroupLedger();
      const other = await harness.openLog();
      await consume(ledger);
      await log.append(topic, numbered('ws_a', 0, 1));
      await eventually(() => expect(ledger.records()).toHaveLength(1));
      await other.append(topic, numbered('ws_a', 1, 1));
      await eventually(() => expect(ledger.values()).toEqual(valuesOf(numbered('ws_a', 0, 2))));
    });

    it('lets every group read everything', async () => {
      const ledgers = ['one', 'two'].map((group) => ({ group, ledger: createGroupLedger() }));
      for (const { group, ledger } of ledgers) await consume(ledger, { group });
      await log.append(
        topic,
        KEYS.flatMap((key) => numbered(key, 0, 5)),
      );
      for (const { ledger } of ledgers) {
        await eventually(() => expect(ledger.records()).toHaveLength(5 * KEYS.length));
      }
    });

    it('never hands out two batches of a partition at once, and works on several partitions at once', async () => {
      const ledger = createGroupLedger();
      const busy = new Set<number>();
      let overlaps = 0;
      let together = 0;
      const before = async ({ partition }: { partition: number }): Promise<void> => {
        if (busy.has(partition)) overlaps += 1;
        busy.add(partition);
        together = Math.max(together, busy.size);
        await new Promise((resolve) => setTimeout(resolve, 5));
        busy.delete(partition);
      };
      await log.append(
        topic,
        KEYS.flatMap((key) => numbered(key, 0, 20)),
      );
      await consume(ledger, { maxRecords: 5, before });
      await eventually(() => expect(ledger.records()).toHaveLength(20 * KEYS.length));
      expect(overlaps).toBe(0);
      expect(together).toBeGreaterThan(1);
    });

    it('counts as lag what the group has not read', async () => {
      const ledger = createGroupLedger();
      await log.append(
        topic,
        KEYS.flatMap((key) => numbered(key, 0, 3)),
      );
      const idle = log.consumer({ group: 'group', topic, maxRecords: 10, handler: ledger.handler() });
      expect(await idle.lag()).toBe(3 * KEYS.length);
      await consume(ledger);
      await eventually(async () => expect(await idle.lag()).toBe(0));
    });

    it('report the ends of the partitions and of a key, with every append before', async () => {
      const consumer = log.consumer({
        group: 'group',
        topic,
        maxRecords: 10,
        handler: createGroupLedger().handler(),
      });
      const none = Array.from({ length: PARTITIONS }, () => 0);
      await eventually(async () => expect(await consumer.endOffsets()).toEqual(none));
      for (let appended = 1; appended <= 5; appended += 1) {
        await log.append(topic, numbered('ws_a', appended, 2));
        const ends = await consumer.endOffsets();
        expect(ends.toSorted((a, b) => b - a).slice(0, 2)).toEqual([2 * appended, 0]);
        expect(await consumer.endOf('ws_a')).toEqual({ partition: ends.indexOf(2 * appended), offset: 2 * appended });
      }
    });

    it('continues behind what a handler stored of a batch that it rejects in the middle', async () => {
      await log.append(topic, numbered('ws_a', 0, 4));
      const ledger = createGroupLedger();
      const { position, handle } = ledger.handler();
      const handleFirst: ConsumerHandler['handle'] = async (batch, stored) => {
        const nextOffset = batch.records[0]!.offset + 1;
        await handle({ ...batch, records: batch.records.slice(0, 1), nextOffset }, stored);
        stored(nextOffset);
        if (nextOffset < batch.nextOffset) throw new Error('the rest does not fit');
      };
      const consumer = log.consumer({ group: 'g', topic, maxRecords: 9, handler: { position, handle: handleFirst } });
      stage.stopLater(consumer);
      await consumer.start();
      await eventually(() => expect(ledger.values()).toEqual(valuesOf(numbered('ws_a', 0, 4))));
    });
  });

  describe('consumer groups', () => {
    it('share the partitions fairly while members come and go, and lose nothing and apply nothing twice', async () => {
      const ledger = createGroupLedger();
      const logs = [log, await harness.openLog(), await harness.openLog()];
      let appended = 0;
      const appendMore = async (): Promise<void> => {
        await log.append(
          topic,
          KEYS.flatMap((key) => numbered(key, appended, 10)),
        );
        appended += 10;
      };
      const owners = async (): Promise<number[]> => {
        await appendMore();
        const recent = ledger.batches.slice(-PARTITIONS);
        return [...Map.groupBy(recent, ({ member }) => member).values()]
          .map((own) => partitionsOf(own).size)
          .toSorted();
      };
      const members: LogConsumer[] = [];
      for (const [index, shares] of [[4], [2, 2], [1, 1, 2]].entries()) {
        members.push(await consume(ledger, { on: logs[index], member: `member-${index}` }));
        await eventually(async () => expect(await owners()).toEqual(shares));
      }
      await Promise.all([members[0]?.stop(), members[2]?.stop()]);
      await eventually(async () => expect(await owners()).toEqual([4]));

      await eventually(() => expect(ledger.records()).toHaveLength(appended * KEYS.length));
      for (const key of KEYS) expect(ledger.valuesByKey().get(key)).toEqual(valuesOf(numbered(key, 0, appended)));
    });

    it('get the partitions of a member that stops, once its batch in hand is done', async () => {
      const ledger = createGroupLedger();
      const release = Promise.withResolvers<void>();
      const inHand = Promise.withResolvers<void>();
      const before = async (): Promise<void> => {
        inHand.resolve();
        await release.promise;
      };
      const leaving = await consume(ledger, { member: 'leaving', before });
      await log.append(topic, numbered('ws_a', 0, 1));
      await inHand.promise;

      const stopped = leaving.stop();
      release.resolve();
      await stopped;
      expect(ledger.values()).toEqual(valuesOf(numbered('ws_a', 0, 1)));

      await consume(ledger, { on: await harness.openLog(), member: 'staying' });
      await log.append(topic, numbered('ws_a', 1, 1));
      await eventually(() => expect(ledger.batches.map(({ member }) => member)).toEqual(['leaving', 'staying']));
    });

    it('wait with a partition until its handler has stored what it put off, and read again only what was lost', async () => {
      const stored = new Map<number, number>();
      const lostOnes = new Set<number>();
      const read: { member: string; partition: number; offset: number }[] = [];
      const consumeStoringLate = async (on: EventLog, member: string): Promise<LogConsumer> => {
        const applied = new Map<number, number>();
        const handler: ConsumerHandler = {
          position: async (_topic, partition) => stored.get(partition) ?? null,
          async handle({ partition, records, nextOffset }) {
            applied.set(partition, nextOffset);
            read.push(...records.map(({ offset }) => ({ member, partition, offset })));
          },
          async released({ partition, lost }) {
            await delay(100);
            if (lost) lostOnes.add(partition);
            else stored.set(partition, applied.get(partition) ?? stored.get(partition) ?? 0);
          },
        };
        const consumer = on.consumer({ group: 'group', topic, maxRecords: 100, handler });
        stage.stopLater(consumer);
        await consumer.start();
        return consumer;
      };
      let appended = 0;
      const readFurther = async (member: string, partitions: number): Promise<void> => {
        const more = KEYS.flatMap((key) => numbered(key, appended, 1));
        appended += 1;
        await log.append(topic, more);
        expect(partitionsOf(read.filter((each) => each.member === member)).size).toBe(partitions);
      };

      const leaving = await consumeStoringLate(log, 'leaving');
      await eventually(() => readFurther('leaving', PARTITIONS));
      await consumeStoringLate(await harness.openLog(), 'staying');
      await eventually(() => readFurther('staying', PARTITIONS / 2));
      await leaving.stop();
      await eventually(() => readFurther('staying', PARTITIONS));

      const placeOf = ({ partition, offset }: (typeof read)[number]) => `${partition}/${offset}`;
      await eventually(() => expect(new Set(read.map(placeOf)).size).toBe(appended * KEYS.length));
      const kept = read.filter(({ partition }) => !lostOnes.has(partition));
      expect(partitionsOf(kept).size).toBeGreaterThanOrEqual(PARTITIONS / 2);
      expect(kept.map(placeOf)).toEqual([...new Set(kept.map(placeOf))]);
    });

    it('hand out nothing after stop', async () => {
      const ledger = createGroupLedger();
      const consumer = await consume(ledger);
      await consumer.stop();
      await consumer.stop();
      await log.append(topic, numbered('ws_a', 0, 1));
      expect(await consumer.lag()).toBe(1);
      expect(ledger.batches).toEqual([]);
    });
  });
}
