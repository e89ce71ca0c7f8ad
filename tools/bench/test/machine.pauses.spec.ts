import { expect, it } from '@jest/globals';
import { withoutPauses } from '../src/machine.pauses.ts';

it('leaves out the calls that a pause or its backlog delayed, and no others', () => {
  const pauses = [{ from: 100, to: 110 }];
  const before = { since: 90, tookMs: 9 };
  const within = { since: 95, tookMs: 6 };
  const backlog = { since: 119, tookMs: 1 };
  const after = { since: 120, tookMs: 1 };

  expect(withoutPauses([before, within, backlog, after], pauses)).toEqual([before, after]);
});
