import { describe, expect, it } from '@jest/globals';
import { isAlive, mintSession, refreshedEnd, SESSION_ABSOLUTE_MS, SESSION_IDLE_MS, sessionDigest } from './session.ts';

const NOW = Date.parse('2026-11-21T18:00:00.000Z');

describe('session', () => {
  it('has a cookie of 256 random bits, and is known by its digest', () => {
    const { cookie, session } = mintSession('user_1', NOW);
    expect(Buffer.from(cookie, 'base64url')).toHaveLength(32);
    expect(session.sha256).toBe(sessionDigest(cookie));
    expect(mintSession('user_1', NOW).cookie).not.toBe(cookie);
  });

  it('is known by the SHA-256 of its cookie, since stored sessions are found by it', () => {
    expect(sessionDigest('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('lives up to its end and not at it', () => {
    const { session } = mintSession('user_1', NOW);
    expect(isAlive(session, NOW + SESSION_IDLE_MS - 1)).toBe(true);
    expect(isAlive(session, NOW + SESSION_IDLE_MS)).toBe(false);
  });

  it('is worth a new end after a minute, up to 7 days after login', () => {
    const { session } = mintSession('user_1', NOW);
    expect(refreshedEnd(session, NOW + 59_999)).toBeNull();
    expect(refreshedEnd(session, NOW + 60_000)).toEqual(new Date(NOW + 60_000 + SESSION_IDLE_MS));
    const last = NOW + SESSION_ABSOLUTE_MS;
    expect(refreshedEnd(session, last - 1)).toEqual(new Date(last));
    expect(refreshedEnd({ ...session, expiresAt: new Date(last) }, last - 1)).toBeNull();
  });
});
