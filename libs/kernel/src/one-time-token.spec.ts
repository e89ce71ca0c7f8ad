import { describe, expect, it } from '@jest/globals';
import { digestOf, mintToken } from './one-time-token.ts';

describe('a one-time token', () => {
  it('names its purpose, has 256 random bits, and is known by its digest', () => {
    const { token, sha256 } = mintToken('invite');
    const [, random = ''] = /^tk_invite_([\w-]+)$/.exec(token) ?? [];
    expect(Buffer.from(random, 'base64url')).toHaveLength(32);
    expect(sha256).toBe(digestOf(token));
    expect(mintToken('invite').token).not.toBe(token);
  });

  it('is known by its SHA-256, since stored tokens and sessions are found by it', () => {
    expect(digestOf('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
