import { describe, expect, it } from '@jest/globals';
import { mergePatch, UNKNOWN } from '../kinds/kind.ts';
import { fieldsThatDiffer } from './diff.ts';

describe('the fields that differ', () => {
  it('are named by their path, with both values', () => {
    const live = { limit_usd: 5, selector: { model: 'gpt-5', labels: { team: 'growth' } } };
    const wanted = { limit_usd: 7, selector: { labels: { team: 'growth', env: 'prod' } } };
    expect(fieldsThatDiffer(wanted, live)).toEqual([
      { path: 'limit_usd', from: 5, to: 7 },
      { path: 'selector.model', from: 'gpt-5', to: undefined },
      { path: 'selector.labels.env', from: undefined, to: 'prod' },
    ]);
  });

  it('are none if only the order of lists and of fields is another, or nothing is set in another way', () => {
    const live = { tell_at: [50, 90], selector: {}, each: null, period: { kind: 'month', start_day: 1 } };
    const wanted = { period: { start_day: 1, kind: 'month' }, selector: { labels: {} }, each: null, tell_at: [90, 50] };
    expect(fieldsThatDiffer(wanted, live)).toEqual([]);
  });

  it('leave out what the file does not say and what cannot be compared', () => {
    const live = { name: 'Demo', timezone: 'UTC', config: { webhook_url: 'https://a.example/***' } };
    const wanted = { name: 'Demo', timezone: undefined, config: { webhook_url: UNKNOWN } };
    expect(fieldsThatDiffer(wanted, live)).toEqual([]);
  });

  it('are the whole object if it is of another kind', () => {
    const live = { period: { kind: 'day' } };
    const wanted = { period: { kind: 'rolling', seconds: 3600 } };
    expect(fieldsThatDiffer(wanted, live)).toEqual([{ path: 'period', from: live.period, to: wanted.period }]);
  });
});

describe('a merge patch', () => {
  it('has only what changes, and null for what is no longer set', () => {
    const from = { name: 'A', selector: { model: 'x', labels: { team: 'growth', env: 'prod' } }, tell_at: [50] };
    const to = { name: 'A', selector: { labels: { team: 'sales', env: 'prod' } }, tell_at: [50, 90] };
    expect(mergePatch(from, to)).toEqual({
      selector: { model: null, labels: { team: 'sales' } },
      tell_at: [50, 90],
    });
  });
});
