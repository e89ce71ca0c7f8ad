import { describe, expect, it } from '@jest/globals';
import { createLoginLimit } from './login-limit.ts';

function setUp() {
  const state = { now: 1_000_000 };
  const limit = createLoginLimit(2, () => state.now);
  const passes = (address: string): boolean => {
    try {
      limit(address);
      return true;
    } catch {
      return false;
    }
  };
  return { state, limit, passes };
}

describe('createLoginLimit', () => {
  it('refuses an address over its attempts, says when to come back, and then lets it', () => {
    const { state, limit, passes } = setUp();
    expect([passes('192.0.2.1'), passes('192.0.2.1'), passes('192.0.2.1')]).toEqual([true, true, false]);
    state.now += 20_000;
    expect(() => limit('192.0.2.1')).toThrow(expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: 40 }));
    state.now += 40_000;
    expect(passes('192.0.2.1')).toBe(true);
  });

  it('counts each address on its own', () => {
    const { passes } = setUp();
    expect([passes('192.0.2.1'), passes('192.0.2.1'), passes('192.0.2.2')]).toEqual([true, true, true]);
    expect([passes('::ffff:192.0.2.8'), passes('::ffff:192.0.2.8'), passes('::ffff:192.0.2.9')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('takes all addresses of one IPv6 /64 for one', () => {
    const { passes } = setUp();
    expect([passes('2001:db8:0:7::1'), passes('2001:db8:0:7:1:2:3:4'), passes('2001:db8:0:7::ff')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(passes('2001:db8:0:8::1')).toBe(true);
    expect([passes('2001:db8::1'), passes('2001:db8::2'), passes('2001:db8:0:0::3')]).toEqual([true, true, false]);
  });
});
