import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { createInFlightLimit } from './in-flight.limit.ts';

function setUp(max: number) {
  const refusals: string[] = [];
  const limit = createInFlightLimit(max, (reason) => void refusals.push(reason));
  /** Starts a request, and returns the function that ends it. */
  const begin = (sender: string, closed = false): (() => void) => {
    const res = Object.assign(new EventEmitter(), { closed });
    limit.enter(sender, res);
    return () => void res.emit('close');
  };
  return { begin, refusals };
}

describe('requests in flight', () => {
  it('are as many for one sender as the limit says; the next one is refused with a reason, and counted', () => {
    const { begin, refusals } = setUp(2);
    begin('ada');
    begin('ada');
    expect(refusals).toEqual([]);
    expect(() => begin('ada')).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        retryAfterSeconds: 1,
        message: 'You have reached the maximum of 2 requests in flight. Wait for a response before sending more.',
      }),
    );
    expect(refusals).toEqual(['sender_limit']);
    expect(() => begin('bob')).not.toThrow();
  });

  it('give their place back when they end, each its own and once', () => {
    const { begin } = setUp(2);
    const ends = [begin('ada'), begin('ada')];
    expect(() => begin('ada')).toThrow();
    ends[0]?.();
    ends[0]?.();
    begin('ada');
    expect(() => begin('ada')).toThrow();
    ends[1]?.();
    begin('ada');
    expect(() => begin('ada')).toThrow();
  });

  it('are none once all have ended', () => {
    const { begin } = setUp(1);
    for (let request = 0; request < 3; request += 1) begin('ada')();
    begin('ada');
    expect(() => begin('ada')).toThrow();
  });

  it('do not count those whose client is gone already', () => {
    const { begin } = setUp(1);
    begin('ada', true);
    begin('ada');
    expect(() => begin('ada', true)).not.toThrow();
  });
});
