import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createTurns, type TurnsOptions } from './turns.ts';

const CAPACITY = 100;

describe('turns', () => {
  /** Starts named pieces of work that run until they are ended by name. */
  function start(options: Partial<TurnsOptions> = {}) {
    const turns = createTurns({ capacity: CAPACITY, ofSender: 1, ...options });
    const begun: string[] = [];
    const ends = new Map<string, PromiseWithResolvers<void>>();
    const inProgress = new Map<string, Promise<void>>();
    return {
      begun,
      async begin(name: string, sender: string, weight = 10, signal?: AbortSignal): Promise<void> {
        const end = Promise.withResolvers<void>();
        ends.set(name, end);
        const work = () => {
          begun.push(name);
          return end.promise;
        };
        const done = turns.run(sender, weight, work, signal);
        // A test that expects a failure awaits it later.
        done.catch(() => undefined);
        inProgress.set(name, done);
        await nextTurn();
      },
      outcome: (name: string) => inProgress.get(name),
      async end(name: string): Promise<void> {
        ends.get(name)?.resolve();
        await inProgress.get(name);
        await nextTurn();
      },
      async fail(name: string): Promise<void> {
        ends.get(name)?.reject(new Error(name));
        await expect(inProgress.get(name)).rejects.toThrow(name);
        await nextTurn();
      },
    };
  }

  it('each sender has as much work in progress as it may, in the order of its arrival', async () => {
    const { begin, end, begun } = start();
    await begin('a1', 'a');
    await begin('a2', 'a');
    await begin('a3', 'a');
    expect(begun).toEqual(['a1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'a2']);
    await end('a2');
    expect(begun).toEqual(['a1', 'a2', 'a3']);
  });

  it('work of different senders is in progress together up to the capacity, and the next waits for room', async () => {
    const { begin, end, begun } = start();
    await begin('a', 'a', 60);
    await begin('b', 'b', 40);
    await begin('c', 'c', 1);
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('work above the capacity is in progress alone', async () => {
    const { begin, end, begun } = start();
    await begin('a', 'a', 1);
    await begin('large', 'b', CAPACITY + 1);
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'large']);
    await begin('c', 'c', 1);
    expect(begun).toEqual(['a', 'large']);
    await end('large');
    expect(begun).toEqual(['a', 'large', 'c']);
  });

  it('heavy work is not passed by lighter work without end', async () => {
    const { begin, end, begun } = start();
    await begin('a', 'a', 60);
    await begin('large', 'b', 90);
    await begin('small', 'c', 10);
    expect(begun).toEqual(['a']);
    await end('a');
    expect(begun).toEqual(['a', 'large', 'small']);
  });

  it('a sender with much work lets another wait for one piece of it', async () => {
    const { begin, end, begun } = start();
    for (const name of ['a1', 'a2', 'a3']) await begin(name, 'a', CAPACITY);
    await begin('b', 'b', CAPACITY);
    await end('a1');
    await end(begun[1] ?? '');
    expect(begun).toContain('b');
    expect(begun).toHaveLength(3);
  });

  it('work that fails makes room for the next, and its sender learns of the failure', async () => {
    const { begin, fail, begun } = start();
    await begin('a1', 'a', CAPACITY);
    await begin('a2', 'a');
    await begin('b', 'b');
    await fail('a1');
    expect(begun.toSorted()).toEqual(['a1', 'a2', 'b']);
  });

  it('a sender that may have two pieces in progress has two, and takes its turn for each', async () => {
    const { begin, end, begun } = start({ ofSender: 2, capacity: 30 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) await begin(name, 'a');
    await begin('b1', 'b');
    await begin('b2', 'b');
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await end('a1');
    await end('a2');
    expect(begun.toSorted()).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  });

  describe('whose waiting is bounded', () => {
    const refusal = (why: string) => new Error(why);
    const waiting = (ofSender: number, ms = 60_000) => ({ waiting: { ofSender, ms, refusal } });

    it('refuse what is more than a sender may have waiting, and nothing of another sender', async () => {
      const { begin, end, begun, outcome } = start(waiting(1));
      for (const name of ['a1', 'a2', 'a3']) await begin(name, 'a');
      await expect(outcome('a3')).rejects.toThrow('too_many');
      await begin('b1', 'b');
      await end('a1');
      expect(begun).toEqual(['a1', 'b1', 'a2']);
      await begin('a4', 'a');
      await end('a2');
      expect(begun).toContain('a4');
    });

    it('refuse what has waited too long, which is then never done', async () => {
      const { begin, end, begun, outcome } = start(waiting(2, 1));
      await begin('a1', 'a');
      await begin('a2', 'a');
      await expect(outcome('a2')).rejects.toThrow('too_long');
      await end('a1');
      expect(begun).toEqual(['a1']);
    });

    it('drop what no one waits for any longer, and begin what it kept waiting', async () => {
      const { begin, end, begun, outcome } = start(waiting(2));
      const gone = new AbortController();
      await begin('a', 'a', 60);
      await begin('heavy', 'b', 90, gone.signal);
      await begin('light', 'c', 10);
      expect(begun).toEqual(['a']);
      gone.abort();
      await expect(outcome('heavy')).rejects.toBe(gone.signal.reason);
      expect(begun).toEqual(['a', 'light']);
      await begin('late', 'd', 10, gone.signal);
      await expect(outcome('late')).rejects.toBe(gone.signal.reason);
      await end('a');
      await end('light');
      expect(begun).toEqual(['a', 'light']);
    });
  });
});
