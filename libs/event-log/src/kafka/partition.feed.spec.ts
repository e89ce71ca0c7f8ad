import { beforeEach, describe, expect, it } from '@jest/globals';
import { testLogger } from '@tollkeeper/testing';
import type { KafkaMessage } from 'kafkajs';
import { createPartitionFeed, type PartitionFeed } from './partition.feed.ts';

describe('the feed of a partition', () => {
  const { signal } = new AbortController();
  const log = testLogger();
  let bounds: { low: number; high: number };
  let asked: string[];
  let feed: PartitionFeed;

  beforeEach(() => {
    bounds = { low: 0, high: 100 };
    asked = [];
    feed = createPartitionFeed({
      fetcher: {
        seek: (offset) => void asked.push(`seek ${offset}`),
        pause: () => void asked.push('pause'),
        resume: () => void asked.push('resume'),
      },
      bounds: async () => bounds,
      maxRecords: 3,
      logger: log.logger,
    });
  });

  const offsetsOf = async (): Promise<number[]> => (await feed.next(signal)).records.map(({ offset }) => offset);

  it.each([
    ['the position', 7, { low: 0, high: 100 }, 7],
    ['the earliest record when there is no position', null, { low: 4, high: 100 }, 4],
    ['the earliest record that retention has left', 2, { low: 4, high: 100 }, 4],
    ['the beginning of another log, which ends before the position', 700, { low: 0, high: 100 }, 0],
  ])('is fetched from %s', async (_place, position, now, start) => {
    bounds = now;
    await feed.open(position);
    expect(asked).toEqual(['pause', `seek ${start}`, 'resume']);
  });

  it('hands on what was fetched in order, at most maxRecords at a time', async () => {
    await feed.open(0);
    await feed.offer(messages(0, 4), 9);
    await feed.offer(messages(4, 2), 9);
    expect(await offsetsOf()).toEqual([0, 1, 2]);
    expect(await offsetsOf()).toEqual([3, 4, 5]);
  });

  it('drops what was fetched from elsewhere, before a seek or under another owner, and starts again', async () => {
    await feed.open(10);
    await feed.offer(messages(4, 3), 100);
    await expect(feed.next(signal)).rejects.toThrow('fetched records begin at offset 4, expected 10');
    await feed.offer(messages(7, 3), 100);
    await feed.open(10);
    await feed.offer(messages(10, 2), 100);
    expect(await offsetsOf()).toEqual([10, 11]);
  });

  it('passes over a gap that is still there when it is fetched again, and over no other', async () => {
    await feed.open(10);
    await feed.offer(messages(20, 1), 100);
    await expect(feed.next(signal)).rejects.toThrow('expected 10');
    await feed.open(10);
    await feed.offer(messages(20, 2), 100);
    expect(await offsetsOf()).toEqual([20, 21]);
    await feed.offer(messages(30, 1), 100);
    await expect(feed.next(signal)).rejects.toThrow('expected 22');
  });

  it('takes nothing while it is closed', async () => {
    await feed.offer(messages(0, 1), 100);
    await feed.open(0);
    feed.close();
    await feed.offer(messages(0, 1), 100);
    await feed.open(0);
    await feed.offer(messages(0, 2), 100);
    expect(await offsetsOf()).toEqual([0, 1]);
  });

  it('is left out of fetching while it is full, and taken in again once it has been emptied', async () => {
    await feed.open(0);
    asked.length = 0;
    for (let offset = 0; offset < 5; offset += 1) await feed.offer(messages(offset, 1, 1_000_000), 100);
    expect(asked).toEqual(['pause']);
    await offsetsOf();
    expect(asked).toEqual(['pause']);
    await offsetsOf();
    expect(asked).toEqual(['pause', 'resume']);
  });
});

function messages(first: number, count: number, bytes = 1): KafkaMessage[] {
  return Array.from({ length: count }, (_, index) => ({
    key: Buffer.from('ws'),
    value: Buffer.alloc(bytes),
    timestamp: '0',
    attributes: 0,
    offset: String(first + index),
    headers: {},
  }));
}
