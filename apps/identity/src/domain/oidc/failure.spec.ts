import { describe, expect, it } from '@jest/globals';
import { OidcFailure } from './failure.ts';

describe('a failure', () => {
  it('reports its facts in one bounded line, whatever a provider sends', () => {
    const { facts, message } = new OidcFailure('log_in_refused', {
      error: 'access_denied\nlevel=error',
      description: `\u202e\u0007${'x'.repeat(1_000)}\ud800`,
      claim: undefined,
      got: ['a', 1],
    });
    expect(Object.keys(facts)).toEqual(['error', 'description', 'got']);
    expect([facts.error, facts.got]).toEqual(['access_denied level=error', '["a",1]']);
    expect([facts.description?.length, facts.description?.isWellFormed()]).toEqual([300, true]);
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it('is reported also where a provider sends what is too deep to write', () => {
    const got: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
    expect(new OidcFailure('issuer_mismatch', { expected: 'https://a.example', got }).facts.got).toBe('not readable');
  });
});
