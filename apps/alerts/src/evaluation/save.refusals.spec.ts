import { describe, expect, it } from '@jest/globals';
import { createConflictPatience, type RecordBatch } from '@tollkeeper/event-log';
import { ContendedTransaction } from '@tollkeeper/mongo';
import { createSaveRefusals, RefusedSave } from './save.refusals.ts';

const record = { offset: 7, key: 'ws', value: Buffer.alloc(0), appendedAt: 0 };
const batch: RecordBatch = { topic: 'events', partition: 2, records: [record], from: 7, nextOffset: 8, endOffset: 8 };
const conflict = new ContendedTransaction(15_000, new Error('write conflict'));

/** The offsets set aside after a single event was refused this many times. */
async function setAsideAfter(times: number, cause: Error, { patienceMs = 300_000, writable = true } = {}) {
  const dead: number[] = [];
  const refusals = createSaveRefusals({
    deadLetters: { setAside: async (_source, { offset }) => void dead.push(offset) },
    recorder: { touch: () => (writable ? Promise.resolve() : Promise.reject(new Error('no write gets through'))) },
    patience: createConflictPatience(patienceMs),
  });
  for (let n = 0; n < times; n += 1) {
    refusals.refused(batch.partition, 1);
    await refusals.giveUp(batch, new RefusedSave(record.offset, cause)).catch(() => undefined);
  }
  expect(refusals.isSetAside(batch.partition, record.offset)).toBe(dead.length > 0);
  return dead;
}

describe('an event that MongoDB refuses alone', () => {
  it('is set aside with the third refusal', async () => {
    expect(await setAsideAfter(2, new Error('too large'))).toEqual([]);
    expect(await setAsideAfter(3, new Error('too large'))).toEqual([7]);
  });

  it('stays while it only conflicts, until patience has run out', async () => {
    expect(await setAsideAfter(20, conflict)).toEqual([]);
    expect(await setAsideAfter(3, conflict, { patienceMs: 0 })).toEqual([7]);
  });

  it('stays while MongoDB does not take the position either', async () => {
    expect(await setAsideAfter(20, new Error('too large'), { writable: false })).toEqual([]);
  });
});
