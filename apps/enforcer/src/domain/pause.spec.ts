import { describe, expect, it } from '@jest/globals';
import { type BudgetedCall, MAX_PAUSES } from '@tollkeeper/contracts';
import { createPauses, NO_PAUSES, type Pause } from './pause.ts';

const CALL: BudgetedCall = {
  agent: 'planner',
  plan: null,
  model: 'm',
  provider: null,
  key: 'k',
  labels: { team: 'a' },
};
const pause = (scope: Pause['scope'], value: string, until = 100): Pause => ({
  ...{ id: `${scope} ${value}`, scope, value, createdAt: 0, until, reason: 'Loops', pausedBy: 'Zoë' },
});
const found = (pauses: Pause[], call: Partial<BudgetedCall> = {}, at = 50) =>
  createPauses(pauses).of({ ...CALL, ...call }, at)?.id ?? null;

describe('the pause of a call', () => {
  it.each([
    [pause('agent', 'planner'), 'agent planner'],
    [pause('key', 'k'), 'key k'],
    [pause('label:team', 'a'), 'label:team a'],
    [pause('agent', 'k'), null],
    [pause('key', 'planner'), null],
    [pause('label:team', 'b'), null],
    [pause('label:constructor', 'a'), null],
  ])('is the one of its agent, its key or a label: of %j, %s', (one, id) => {
    expect(found([one])).toBe(id);
  });

  it('is none for a call without a key or labels, whatever is paused', () => {
    const pauses = [pause('key', 'null'), pause('key', ''), pause('label:team', ''), pause('label:__proto__', '{}')];
    expect(found(pauses, { key: null, labels: {} })).toBeNull();
  });

  it('has not ended, and of several is the one that ends last, in any order', () => {
    const pauses = [pause('agent', 'planner', 60), pause('key', 'k', 80), pause('label:team', 'a', 70)];
    for (const all of [pauses, pauses.toReversed()]) {
      expect([found(all), found(all, {}, 79), found(all, {}, 80)]).toEqual(['key k', 'key k', null]);
    }
  });

  it('is found among as many as a workspace may have, and costs nothing without any', () => {
    const many = Array.from({ length: MAX_PAUSES }, (_, index) => pause('label:user', `user-${index}`));
    expect(found(many, { labels: { user: 'user-99' } })).toBe('label:user user-99');
    expect(createPauses([])).toBe(NO_PAUSES);
  });
});
