import { describe, expect, it } from '@jest/globals';
import { ruleOf } from '../../test/fixtures.ts';
import { type Rule, startsEmpty } from './rule.ts';

const rule = ruleOf({ channelIds: ['chan_1'], eventTypes: ['tool.failed'] });

describe('the window of a rule that is edited', () => {
  it.each<[string, Partial<Rule>]>([
    ['kind', { condition: { kind: 'first_occurrence' } }],
    ['threshold', { condition: { kind: 'event_count_gte', threshold: 2 } }],
    ['window', { windowSeconds: 61 }],
    ['scope', { scopeType: 'agent' }],
    ['agent', { scopeId: 'planner' }],
    ['event types', { eventTypes: [] }],
    ['filter of percents', { percents: [80] }],
    ['filter of labels', { labels: { team: 'growth' } }],
  ])('starts empty with another %s', (_what, edit) => {
    expect(startsEmpty(rule, { ...rule, ...edit })).toBe(true);
  });

  it('starts empty when the rule is enabled again, and not when it is disabled', () => {
    const disabled = { ...rule, enabled: false };
    expect(startsEmpty(disabled, rule)).toBe(true);
    expect(startsEmpty(rule, disabled)).toBe(false);
  });

  it.each<[string, Partial<Rule>]>([
    ['name and description', { name: 'Another', description: 'Text' }],
    ['severity', { severity: 'low' }],
    ['cooldown', { cooldownSeconds: 60 }],
    ['channels', { channelIds: [] }],
    ['lists of the same types', { eventTypes: ['tool.failed'] }],
  ])('stays with another %s', (_what, edit) => {
    expect(startsEmpty(rule, { ...rule, ...edit })).toBe(false);
  });
});
