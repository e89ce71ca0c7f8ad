import { describe, expect, it } from '@jest/globals';
import { EMPTY, readForm, termsOf } from '../web/src/pages/budgets/budget-form.ts';
import { budgetPreview } from '../web/src/text/budget-preview.ts';

const sums = (calls: number, total_micros: number, exceeding_calls: number, exceeding_micros: number) => ({
  ...{ calls, total_micros, exceeding_calls, exceeding_micros },
});
const value = (name: string, exceeding: number, calls: number) => ({ value: name, ...sums(calls, 0, exceeding, 0) });

describe('the preview of a budget', () => {
  it.each([
    ['deny', sums(340, 30_000_000, 12, 1_200_000), 'this would have blocked 12 of 340 calls ($1.20 of $30.00).'],
    ['deny', sums(1, 10_000, 1, 10_000), 'this would have blocked 1 of 1 call ($0.01 of $0.01).'],
    ['deny', sums(340, 30_000_000, 0, 0), 'this would have blocked none of 340 calls ($30.00).'],
    ['warn', sums(340, 0, 12, 0), '12 of 340 calls ($0.00 of $0.00) would have exceeded this, which is only reported.'],
    ['warn', sums(340, 30_000_000, 0, 0), 'none of 340 calls ($30.00) would have exceeded this.'],
  ] as const)('says for %s and %j how many calls it affects', (action, of, sentence) => {
    expect(budgetPreview.sentence(action, of)).toBe(`In the last 7 days, ${sentence}`);
  });

  it.each(['deny', 'warn'] as const)('says for %s that no calls count', (action) => {
    expect(budgetPreview.sentence(action, sums(0, 0, 0, 0))).toBe('No calls of the last 7 days count in this budget.');
  });

  it('names the most affected values, and of how many limits they are', () => {
    const values = [{ ...value('a1', 8, 20), display_name: 'Reader' }, value('zoe', 1, 1)];
    const named = 'Reader (8 of 20 calls), zoe (1 of 1 call).';
    expect(budgetPreview.values(values, 40)).toBe(`Most affected of 40 limits: ${named}`);
    expect(budgetPreview.values(values, 2)).toBe(`Most affected: ${named}`);
  });

  it('says how many calls of all it shows', () => {
    const shown = [budgetPreview.show(1, 1), budgetPreview.show(20, 1_906)];
    expect(shown).toEqual(['1 call beyond the limit', 'The newest 20 of 1,906 calls beyond the limit']);
  });

  it('is asked for once the fields that matter to it can be read', () => {
    const termsFor = (change: Partial<typeof EMPTY>) => {
      const { draft, problems } = readForm({ ...EMPTY, ...change }, 'UTC');
      return termsOf(draft, problems);
    };
    const month = { selector: {}, each: null, overrides: null, period: { kind: 'month', start_day: 1 } };
    const terms = { ...month, limit_micros: 5_000_000, action: 'deny', grace_percent: 0 };
    expect(termsFor({ limit: '5' })).toEqual(terms);
    expect(termsFor({ limit: '5', name: 'X', tellAt: 'soon' })).toEqual(terms);
    expect(termsFor({ limit: '5', each: 'label', eachLabel: 'user' })).toEqual({ ...terms, each: 'label:user' });
    const unknown: Partial<typeof EMPTY>[] = [
      ...[{ limit: '' }, { limit: 'much' }, { grace: 'x' }, { kind: 'once' as const }, { labels: 'team' }],
      { each: 'label' },
    ];
    for (const change of unknown) expect(termsFor({ limit: '5', ...change })).toBeNull();
  });
});
