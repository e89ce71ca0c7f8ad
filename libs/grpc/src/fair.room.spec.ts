import { expect, it } from '@jest/globals';
import { createFairRoom } from './fair.room.ts';

function arrange(max: number) {
  const evicted: string[] = [];
  const room = createFairRoom<string>(max, (entry) => evicted.push(entry));
  return { evicted, room };
}

it('lets the oldest of the address with the most make room, whoever comes', () => {
  const { evicted, room } = arrange(4);
  room.add('b', 'b1');
  for (const entry of ['a1', 'a2', 'a3']) room.add('a', entry);
  room.add('b', 'b2');
  room.add('c', 'c1');
  room.add('a', 'a4');
  expect(evicted).toEqual(['a1', 'b1', 'a2']);
});

it('makes no room for what has left, and counts nothing twice that leaves twice', () => {
  const { evicted, room } = arrange(2);
  room.add('a', 'a1');
  room.add('a', 'a2');
  for (let i = 0; i < 3; i += 1) room.delete('a', 'a1');
  room.add('a', 'a3');
  expect(evicted).toEqual([]);
  room.add('b', 'b1');
  expect(evicted).toEqual(['a2']);
});
