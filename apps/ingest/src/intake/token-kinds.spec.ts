import { describe, expect, it } from '@jest/globals';
import { inputTotal } from '@tollkeeper/prices';
import fc from 'fast-check';
import { disjointTokens, type ReportedTokens } from './token-kinds.ts';

const NONE: ReportedTokens = {
  input: undefined,
  inputExcludesCached: false,
  output: undefined,
  cacheRead: undefined,
  cacheWrite: undefined,
  cacheWrite1h: undefined,
  reasoning: undefined,
};
const disjoint = (reported: Partial<ReportedTokens>) => disjointTokens({ ...NONE, ...reported });

describe('disjoint tokens', () => {
  it('take what was cached out of the input, and leave reasoning in the output', () => {
    const reported = { input: 1500, cacheRead: 1024, cacheWrite: 300, cacheWrite1h: 100, output: 345, reasoning: 128 };
    expect(disjoint(reported)).toEqual({
      tokens: { input: 176, cacheRead: 1024, cacheWrite: 200, cacheWrite1h: 100, output: 345, reasoning: 128 },
      inferred: false,
    });
  });

  it('leave the input of a sender that reports it without cached tokens', () => {
    const reported = { input: 2000, inputExcludesCached: true, cacheRead: 1024, output: 1 };
    expect(disjoint(reported)).toMatchObject({ tokens: { input: 2000, cacheRead: 1024 }, inferred: false });
  });

  it.each([
    ['cached tokens', { input: 176, cacheRead: 1024, cacheWrite: 300 }, { input: 176, output: 0 }],
    ['cached tokens without any input', { cacheRead: 10 }, { input: 0, output: 0 }],
    ['reasoning', { output: 100, reasoning: 128 }, { input: 0, output: 228, reasoning: 128 }],
  ])('say that they were inferred if a total is smaller than its %s', (_part, reported, tokens) => {
    expect(disjoint(reported)).toMatchObject({ tokens, inferred: true });
  });

  it('are none without a token', () => {
    expect(disjoint({})).toBeUndefined();
    expect(disjoint({ input: 0, output: 0, cacheRead: 0 })).toBeUndefined();
  });

  it('are never negative, and add up to the totals of the sender unless they were inferred', () => {
    const number = fc.option(fc.nat(1000), { nil: undefined });
    const any = fc.record<ReportedTokens>({
      input: number,
      inputExcludesCached: fc.constant(false),
      output: number,
      cacheRead: number,
      cacheWrite: number,
      cacheWrite1h: number,
      reasoning: number,
    });
    fc.assert(
      fc.property(any, (reported) => {
        const found = disjointTokens(reported);
        if (found === undefined) return;
        const { tokens, inferred } = found;
        expect(Math.min(...Object.values(tokens))).toBeGreaterThanOrEqual(0);
        expect(tokens.reasoning).toBeLessThanOrEqual(tokens.output);
        if (!inferred) expect([inputTotal(tokens), tokens.output]).toEqual([reported.input ?? 0, reported.output ?? 0]);
      }),
    );
  });
});
