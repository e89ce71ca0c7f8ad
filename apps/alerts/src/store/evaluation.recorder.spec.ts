import { expect, it } from '@jest/globals';
import { eventAt, ruleOf } from '../../test/fixtures.ts';
import { evaluate, openWindow } from '../domain/evaluator.ts';
import { RuleHistory } from '../domain/rule.history.ts';
import type { Rule } from '../domain/rule.ts';
import { SharedSums } from '../domain/shared-sums.ts';
import { sizeOfDecision } from './evaluation.recorder.ts';

function sizeOf(rule: Rule) {
  const window = openWindow(rule, new RuleHistory(), { sums: new SharedSums(), budgets: { of: () => null } });
  return sizeOfDecision(evaluate(rule, window, eventAt(20 * 86_400_000))!);
}

it('a decision is as much larger as the labels in its alert and in the notification for each channel', () => {
  const rule = ruleOf({ channelIds: ['chan_1', 'chan_2'] });
  const { documents, bytes } = sizeOf(rule);
  expect(sizeOf({ ...rule, labels: { team: '☂'.repeat(100) } })).toEqual({
    documents,
    bytes: bytes + 3 * Buffer.byteLength(`"team":"${'☂'.repeat(100)}"`),
  });
});
