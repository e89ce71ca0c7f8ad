import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mintWorkspaceKey, parseWorkspaceKey } from './workspace-key.ts';

describe('workspace key', () => {
  it('has an id of 16 characters, and a secret with its checksum of 42', () => {
    expect(mintWorkspaceKey().apiKey).toMatch(/^ws_live_[0-9A-Za-z]{16}\.[0-9A-Za-z]{42}$/);
  });

  it('reads back as its id and the SHA-256 of the whole key', () => {
    const { id, apiKey, sha256 } = mintWorkspaceKey();
    expect(sha256).toEqual(createHash('sha256').update(apiKey).digest());
    expect(parseWorkspaceKey(apiKey)).toEqual({ keyId: id, sha256 });
  });

  it('is never the same twice', () => {
    const keys = Array.from({ length: 1000 }, () => mintWorkspaceKey());
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1000);
    expect(new Set(keys.map(({ apiKey }) => apiKey)).size).toBe(1000);
  });

  it('is refused with any one character changed', () => {
    const { apiKey } = mintWorkspaceKey();
    for (let index = 0; index < apiKey.length; index += 1) {
      const changed = apiKey.slice(0, index) + (apiKey[index] === 'x' ? 'y' : 'x') + apiKey.slice(index + 1);
      expect(parseWorkspaceKey(changed)).toBeNull();
    }
  });

  it('is refused with the last characters swapped, cut or repeated', () => {
    const { apiKey } = mintWorkspaceKey();
    for (const text of [apiKey.slice(0, -1), `${apiKey}0`, ` ${apiKey}`, `${apiKey}\n`, apiKey.toUpperCase()]) {
      expect(parseWorkspaceKey(text)).toBeNull();
    }
  });

  it('keeps to a published example, so that a key stays good across versions', () => {
    const apiKey = 'ws_live_0123456789ABCDEF.abcdefghijklmnopqrstuvwxyz0123456789299kTE';
    expect(parseWorkspaceKey(apiKey)?.keyId).toBe('0123456789ABCDEF');
  });

  it('is null for any other text, whatever it is', () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => parseWorkspaceKey(text) === null));
  });
});
