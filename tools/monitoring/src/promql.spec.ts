import { describe, expect, it } from '@jest/globals';
import { readQuery } from './promql.ts';

describe('readQuery', () => {
  it('finds every metric, the labels that it is selected by, and those that the result is grouped and joined by', () => {
    const query = readQuery('sum by (service) (rate(x_total{a="b", c=~"d|e"}[5m])) / on (job) group_left (v) y > 0.1');
    expect(query).toEqual({
      selectors: [
        { metric: 'x_total', labels: { a: 'b', c: 'd|e' } },
        { metric: 'y', labels: {} },
      ],
      groupings: ['service', 'job', 'v'],
    });
  });

  it.each(['sum by (service) (rate(x[5m])', 'x >', '{a="b"}'])('refuses %s', (expression) => {
    expect(() => readQuery(expression)).toThrow();
  });
});
