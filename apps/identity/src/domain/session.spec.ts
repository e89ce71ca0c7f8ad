import { describe, expect, it } from '@jest/globals';
import { digestOf } from '@tollkeeper/kernel';
import { isAlive, mintSession, refreshed, SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, sessionIdOf } from './session.ts';

const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const ORIGIN = { address: '192.0.2.1', userAgent: 'test' };

describe('session', () => {
  it('has a cookie of 256 random bits, and is known by its digest', () => {
    const { cookie, session } = mintSession('user_1', NOW, ORIGIN);
    expect(Buffer.from(cookie, 'base64url')).toHaveLength(32);
    expect(session.sha256).toBe(digestOf(cookie));
    expect(mintSession('user_1', NOW, ORIGIN).cookie).not.toBe(cookie);
  });

  it('lives up to its end and not at it', () => {
    const { session } = mintSession('user_1', NOW, ORIGIN);
    expect(isAlive(session, NOW + SESSION_IDLE_MS - 1)).toBe(true);
    expect(isAlive(session, NOW + SESSION_IDLE_MS)).toBe(false);
  });

  it('is worth storing again a minute after its last use, with an end up to 7 days after login', () => {
    const { session } = mintSession('user_1', NOW, ORIGIN);
    expect(refreshed(session, NOW + 59_999)).toBeNull();
    const used = new Date(NOW + 60_000);
    expect(refreshed(session, NOW + 60_000)).toEqual({
      ...{ lastSeenAt: used, expiresAt: new Date(used.getTime() + SESSION_IDLE_MS) },
    });
    const last = NOW + SESSION_ABSOLUTE_MS;
    expect(refreshed(session, last - 1)).toEqual({ lastSeenAt: new Date(last - 1), expiresAt: new Date(last) });
  });

  it('is called by a name that is neither its digest nor a part of it', () => {
    const { session } = mintSession('user_1', NOW, ORIGIN);
    expect(sessionIdOf(session)).toMatch(/^ses_[0-9a-f]{20}$/);
    expect(session.sha256).not.toContain(sessionIdOf(session).slice(4));
    expect(sessionIdOf(session)).toBe(sessionIdOf({ sha256: session.sha256 }));
  });
});
