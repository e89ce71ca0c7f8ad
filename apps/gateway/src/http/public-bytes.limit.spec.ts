import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { createPublicBytesLimit } from './public-bytes.limit.ts';

const PER_SECOND = 1_000;
const BURST = 30_000;

function setUp() {
  const clock = { now: 5_000 };
  const refusals: string[] = [];
  const limit = createPublicBytesLimit(
    PER_SECOND,
    (reason) => void refusals.push(reason),
    () => clock.now,
  );
  /** Starts a request, and returns a function that answers it with this many bytes. */
  const begin = (address: string) => {
    const headers: Record<string, string> = {};
    const res = Object.assign(new EventEmitter(), {
      ...{ closed: false, socket: { bytesWritten: 777 } },
      setHeader: (name: string, value: string) => void (headers[name] = value),
    });
    const enter = () => limit.enter(address, res);
    return {
      headers,
      enter,
      answer(bytes: number) {
        res.socket.bytesWritten += bytes;
        res.emit('close');
      },
    };
  };
  const take = (address: string, bytes: number): void => {
    const request = begin(address);
    request.enter();
    request.answer(bytes);
  };
  return { clock, refusals, begin, take };
}

describe('the bytes that one address may take', () => {
  it('are those of thirty seconds at once; the next request is refused with a reason and counted, and its connection ends', () => {
    const { begin, take, refusals } = setUp();
    take('192.0.2.1', BURST - 1);
    take('192.0.2.1', 2_501);
    const { enter, headers } = begin('192.0.2.1');
    expect(enter).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        retryAfterSeconds: 3,
        message: 'Your address exceeded 1000 bytes of pages and documents per second. Try again in 3 s.',
      }),
    );
    expect([refusals, headers]).toEqual([['public_bytes'], { connection: 'close' }]);
    expect(() => take('192.0.2.2', 1)).not.toThrow();
  });

  it('come back with time, as the refusal said, and no more of them than before', () => {
    const { clock, begin, take } = setUp();
    take('192.0.2.1', BURST + 2_500);
    clock.now += 2_000;
    expect(begin('192.0.2.1').enter).toThrow();
    clock.now += 1_000;
    expect(() => take('192.0.2.1', 1_000)).not.toThrow();
    clock.now += 3_600_000;
    take('192.0.2.1', BURST);
    expect(begin('192.0.2.1').enter).toThrow();
  });

  it('include all answers sent at the same time, and no one waits longer than one burst takes', () => {
    const { clock, begin } = setUp();
    const together = Array.from({ length: 10 }, () => begin('192.0.2.1'));
    for (const { enter } of together) enter();
    for (const { answer } of together) answer(BURST);
    expect(begin('192.0.2.1').enter).toThrow(expect.objectContaining({ retryAfterSeconds: 31 }));
    clock.now += 31_000;
    expect(begin('192.0.2.1').enter).not.toThrow();
  });
});
