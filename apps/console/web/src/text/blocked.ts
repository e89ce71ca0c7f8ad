import type { Api } from '@tollkeeper/client';
import { exactMoney } from '../format/money.ts';
import { exactCount } from '../format/numbers.ts';
import { isPause, limitNoun, limitOfBudget, waitForRoom, whoseBudget } from './budget-words.ts';
import { noun } from './plurals.ts';

const CALLS = { one: 'blocked call', other: 'blocked calls' };

export const blocked = {
  title: 'Blocked',
  line: 'Calls blocked by a budget or a guard, newest first',
  kinds: { budget: 'By a budget', guard: 'By a guard' },
  kind: 'Blocked by',
  onlyAgent: 'Only calls of',
  total: (calls: number) => `${exactCount(calls)} ${noun(calls, CALLS)} in this time range`,
  none: {
    budget: {
      title: 'No calls blocked by a budget in this time range',
      text: 'Calls that would exceed a budget appear here, with the reason and the way to unblock them.',
    },
    guard: {
      title: 'No calls blocked by a guard in this time range',
      text: 'Calls appear here when a gateway reports that one of its guards blocked them.',
    },
  },
  column: {
    when: 'Time',
    agent: 'Agent',
    budget: 'Budget',
    requested: 'Requested',
    used: 'Spent and held',
    guard: 'Guard',
    reason: 'Reason',
    run: 'Run',
  },
  event: 'Blocked call',
  run: (id: string) => `Run ${id}`,
  why: 'Reason',
  unblock: 'How to unblock it',
  budgetWhy(call: Api.BudgetBlocked): string {
    if (isPause(call)) return `The calls were paused: ${call.pause_reason ?? 'no reason is known'}`;
    const { requested_micros: requested, spent_micros: spent, held_micros: held = 0 } = call;
    const andHeld = held === 0 ? '' : ` and held ${exactMoney(held)} for open reservations`;
    const limit = `${limitNoun(call)} of ${exactMoney(call.daily_budget_usd_micros)}`;
    return `The call requested ${exactMoney(requested)}. ${whoseBudget(call)} had spent ${exactMoney(spent)}${andHeld} of its ${limit}.`;
  },
  budgetUnblock(call: Api.BudgetBlocked): string {
    if (isPause(call))
      return 'Wait until the pause ends, or ask an owner or admin to end it. The limits page lists all pauses.';
    const needed = exactMoney(call.spent_micros + (call.held_micros ?? 0) + call.requested_micros);
    return `Raise the ${limitOfBudget(call)} to ${needed} or more, make a smaller call, or ${waitForRoom(call)}.`;
  },
  guardUnblock: 'Change the call, or adjust the guard in the gateway’s configuration.',
  toBudget: 'Go to budget',
  fact: {
    event: 'Event',
    calls: 'Calls',
    run: 'Run',
    agent: 'Agent',
    plan: 'Plan',
    budget: 'Budget',
    period: 'Budget period',
    when: 'Time',
    source: 'Reported by',
  },
  copyId: (name: string) => `Copy ${name} ID`,
  timeline: 'Run timeline',
  settled: (amount: string) => `spent ${amount}`,
  /** After the reason of a group of calls. */
  times: (calls: string) => ` × ${calls}`,
  stopped: (amount: string) => `blocked by a budget, ${amount} requested`,
  guarded: (guard: string) => `blocked by the guard ${guard}`,
  cut: 'Only the oldest 1,000 events of each kind are shown.',
};
