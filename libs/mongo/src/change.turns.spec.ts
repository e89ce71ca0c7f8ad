import { describe, expect, it } from '@jest/globals';
import { createChangeTurns } from './change.turns.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve: end } = Promise.withResolvers<void>();
  return { work: () => promise, end };
}

const refusal = (work: Promise<unknown>) => work.catch((error: unknown) => error);

describe('the changes of a sender', () => {
  it('come one after the other, in their order, also behind one that fails', async () => {
    const turns = createChangeTurns();
    const order: string[] = [];
    const change = (name: string) => () => {
      order.push(`${name} begins`);
      return Promise.resolve().then(() => {
        order.push(`${name} ends`);
        if (name === 'b') throw new Error('b fails');
      });
    };
    await Promise.allSettled(['a', 'b', 'c'].map((name) => turns.run('ws', change(name))));
    expect(order).toEqual(['a', 'b', 'c'].flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  it('let no other sender wait', async () => {
    const turns = createChangeTurns();
    const { work, end } = held();
    const first = turns.run('ws_1', work);
    expect(await turns.run('ws_2', () => Promise.resolve('done'))).toBe('done');
    end();
    await first;
  });

  it('are refused with 429 and Retry-After when too many wait, and taken again when they are through', async () => {
    const turns = createChangeTurns({ maxWaiting: 2 });
    const { work, end } = held();
    const taken = [1, 2, 3].map(() => turns.run('ws', work));
    expect(await refusal(turns.run('ws', work))).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 2 });
    expect(await turns.run('other', () => Promise.resolve('done'))).toBe('done');
    end();
    await Promise.all(taken);
    expect(await turns.run('ws', () => Promise.resolve('done'))).toBe('done');
  });

  it('are refused with 503 and Retry-After when their turn does not come in time, and are not done later', async () => {
    const turns = createChangeTurns({ maxWaiting: 1, maxWaitMs: 1 });
    const { work, end } = held();
    const first = turns.run('ws', work);
    const begun: string[] = [];
    const late = turns.run('ws', async () => void begun.push('late'));
    expect(await refusal(late)).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 2 });
    end();
    await first;
    expect(await turns.run('ws', () => Promise.resolve('done'))).toBe('done');
    expect(begun).toEqual([]);
  });
});
