import { exactMoney } from '../format/money.ts';

export const blocked = {
  title: 'Blocked',
  line: 'Calls that a budget or a guard stopped, newest first',
  kinds: { budget: 'By a budget', guard: 'By a guard' },
  kind: 'Why they were blocked',
  total: (calls: string) => `${calls} in this span`,
  none: {
    budget: {
      title: 'No budget blocked a call in this span',
      text: 'A call that would pass a daily budget stands here, with what would unblock it.',
    },
    guard: { title: 'No guard blocked a call in this span', text: 'A gateway reports what its guards stop, and why.' },
  },
  column: {
    when: 'When',
    agent: 'Agent',
    budget: 'Budget of the',
    requested: 'Asked for',
    used: 'Used and held then',
    guard: 'Guard',
    reason: 'Reason',
    run: 'Run',
  },
  event: 'Blocked call',
  run: (id: string) => `Run ${id}`,
  why: 'Why',
  unblock: 'What would unblock it',
  budgetWhy: (scope: string, requested: number, used: number, held: number, budget: number) =>
    `The call asked for ${exactMoney(requested)}. The ${scope} had used ${exactMoney(used)}${held === 0 ? '' : ` and held ${exactMoney(held)} for open calls`} of its ${exactMoney(budget)} for the day.`,
  budgetUnblock: (scope: string, needed: number) =>
    `A daily budget of ${exactMoney(needed)} or more for the ${scope}, a smaller call, or the next day.`,
  guardUnblock: 'The gateway’s guard decides this. Change the call, or the guard where it is too strict.',
  toBudget: 'Go to the budget',
  fact: {
    event: 'Event',
    calls: 'Calls',
    run: 'Run',
    agent: 'Agent',
    plan: 'Plan',
    when: 'When',
    source: 'Reported by',
  },
  copyId: (name: string) => `Copy the id of the ${name}`,
  timeline: 'What happened in the run',
  settled: (amount: string) => `spent ${amount}`,
  /** Behind what several calls were blocked by. */
  times: (calls: string) => ` × ${calls}`,
  stopped: (amount: string) => `blocked by a budget, asked for ${amount}`,
  guarded: (guard: string) => `blocked by the guard ${guard}`,
  cut: 'Of a longer run the oldest 1,000 of each kind are shown.',
};
