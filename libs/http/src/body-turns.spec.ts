import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createBodyTurns } from './body-turns.ts';

const CAPACITY = 100;

describe('turns of large bodies', () => {
  /** Bodies that are under way until they are ended by name. */
  function start() {
    const turns = createBodyTurns(CAPACITY);
    const begun: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const underWay = new Map<string, Promise<void>>();
    return {
      begun,
      async body(name: string, sender: string, bytes = 10): Promise<void> {
        const end = Promise.withResolvers<void>();
        ends.set(name, end);
        const work = () => {
          begun.push(name);
          return end.promise;
        };
        underWay.set(name, turns.run(sender, bytes, work));
        await nextTurn();
      },
      async end(name: string): Promise<void> {
        ends.get(name)?.resolve();
        await underWay.get(name);
        await nextTurn();
      },
      async fail(name: string): Promise<void> {
        ends.get(name)?.reject(new Error(name));
        await expect(underWay.get(name)).rejects.toThrow(name);
        await nextTurn();
      },
    };
  }

  it('each sender has one body under way at a time, in the order of their arrival', async () => {
    const { body, end, begun } = start();
    await body('a1', 'a');
    await body('a2', 'a');
    await body('a3', 'a');
    expect(begun).toEqual(['a1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2']);
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  it('bodies of different senders are under way together up to the capacity, and the next waits for room', async () => {
    const { body, end, begun } = start();
    await body('a', 'a', 60);
    await body('b', 'b', 40);
    await body('c', 'c', 1);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('a body above the capacity is under way alone', async () => {
    const { body, end, begun } = start();
    await body('a', 'a', 1);
    await body('large', 'b', CAPACITY + 1);
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'large']);
    await body('c', 'c', 1);
    expect(begun).toEqual(['a', 'large']);
    await end('large');
    expect(begun).toEqual(['a', 'large', 'c']);
  });

  it('a large body is not passed by smaller ones without end', async () => {
    const { body, end, begun } = start();
    await body('a', 'a', 60);
    await body('large', 'b', 90);
    await body('small', 'c', 10);
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'large', 'small']);
  });

  it('a sender with many bodies lets another wait for one of them', async () => {
    const { body, end, begun } = start();
    for (const name of ['a1', 'a2', 'a3']) await body(name, 'a', CAPACITY);
    await body('b', 'b', CAPACITY);
    await end('a1');
    await end(begun[1] ?? '');
    expect(begun).toContain('b');
    expect(begun).toHaveLength(3);
  });

  it('a body that fails makes room for the next, and its sender learns of the failure', async () => {
    const { body, fail, begun } = start();
    await body('a1', 'a', CAPACITY);
    await body('a2', 'a');
    await body('b', 'b');
    await fail('a1');
    expect(begun.toSorted()).toEqual(['a1', 'a2', 'b']);
  });
});
