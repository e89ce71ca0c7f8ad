import { describe, expect, it } from '@jest/globals';
import { IDENTIFIER, newId, randomBase62 } from './ids.ts';

describe('ids', () => {
  it('carry their prefix and are themselves valid identifiers', () => {
    expect(newId('rule')).toMatch(/^rule_[0-9A-Za-z]{20}$/);
    expect(newId('rule')).toMatch(IDENTIFIER);
  });

  it('differ from each other', () => {
    const ids = Array.from({ length: 2_000 }, () => newId('rule'));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('draw every base62 character about equally often', () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(250);
  });
});

describe('IDENTIFIER', () => {
  it('takes 1 to 128 of its characters and nothing else', () => {
    expect(['a', 'A.b_c:d-9', 'x'.repeat(128)].every((id) => IDENTIFIER.test(id))).toBe(true);
    expect(['', 'x'.repeat(129), 'a b', 'a/b', 'é', 'a\n', '$gt'].some((id) => IDENTIFIER.test(id))).toBe(false);
  });
});
