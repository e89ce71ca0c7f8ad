import { describe, expect, it } from '@jest/globals';
import { createBreakdown, MAX_GROUPS } from './breakdown.ts';
import { emptyTally } from './tally.ts';

const spent = (totalMicros: number) => ({ ...emptyTally(), totalMicros, settlements: 1 });

describe('a breakdown', () => {
  it('has the largest groups by spend, those alike by key, and the sum of all others', () => {
    const { add, largest } = createBreakdown(2);
    add('b', 0, spent(5));
    add('c', 1, spent(5));
    add('a', 0, spent(1));
    add(null, 1, spent(2));
    add('a', 1, spent(4));
    const { groups, others } = largest(2);
    expect(groups).toMatchObject([
      { key: 'a', total: { totalMicros: 5, settlements: 2 } },
      { key: 'b', total: { totalMicros: 5, settlements: 1 } },
    ]);
    expect(groups.map(({ micros }) => [...micros])).toEqual([
      [1, 4],
      [5, 0],
    ]);
    expect(others).toMatchObject({ count: 2, total: { totalMicros: 7, settlements: 2 } });
    expect([...others!.micros]).toEqual([0, 7]);
  });

  it.each([[[null, '0']], [['0', null]]])('has what names no group before those alike by spend (%j)', (keys) => {
    const { add, largest } = createBreakdown(1);
    for (const key of keys) add(key, 0, spent(5));
    expect(largest(2).groups.map(({ key }) => key)).toEqual([null, '0']);
  });

  it('has no others when all groups are shown, and no group that settled nothing', () => {
    const { add, largest } = createBreakdown(1);
    add('a', 0, spent(0));
    add('watched', 0, { ...emptyTally(), guardBlocked: 3 });
    expect(largest(1)).toMatchObject({ groups: [{ key: 'a' }] });
    expect(largest(1)).not.toHaveProperty('others');
  });

  it('lists only so many groups, and counts the spend of all', () => {
    const { add, largest } = createBreakdown(1);
    for (let group = 0; group < MAX_GROUPS + 50; group += 1) add(`${group}`, 0, spent(1));
    add('0', 0, spent(1));
    const { groups, others } = largest(1);
    expect(groups).toMatchObject([{ key: '0', total: { totalMicros: 2 } }]);
    expect(others).toMatchObject({ count: MAX_GROUPS - 1, total: { totalMicros: MAX_GROUPS + 49 } });
    expect(others!.micros[0]).toBe(MAX_GROUPS + 49);
    expect(largest(MAX_GROUPS).others).toMatchObject({ count: 0, total: { totalMicros: 50 } });
  });
});
