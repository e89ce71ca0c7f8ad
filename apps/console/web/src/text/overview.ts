import { counted } from './plurals.ts';

const RUNS = { one: 'run', other: 'runs' };
const SETTLEMENTS = { one: 'settlement', other: 'settlements' };
const CALLS = { one: 'call', other: 'calls' };

export const overview = {
  title: 'Overview',
  spend: 'Spend',
  budgetLink: 'Limits',
  of: (budget: string) => `of ${budget}`,
  noBudget: 'no daily budget',
  used: (spent: string, held: string) => `${spent} spent, ${held} held`,
  left: (left: string, held: string) => `${left} left, ${held} held`,
  resets: (time: string) => `resets in ${time}`,
  usedUp: 'used up: calls are blocked until it resets',
  pace: (time: string) => `at this pace used up by ${time}`,
  stale: 'The budgets service is unreachable. Showing the last known budget.',
  blocked: 'Blocked calls',
  notIncluded: (unpriced: number, unmetered: number) =>
    `Not included: ${[
      ...(unpriced > 0 ? [`${counted(unpriced, CALLS)} without a price`] : []),
      ...(unmetered > 0 ? [`${counted(unmetered, CALLS)} without usage`] : []),
    ].join(', ')}`,
  by: { budget: (calls: string) => `${calls} by a budget`, guard: (calls: string) => `${calls} by a guard` },
  agents: 'Active agents',
  runs: (runs: number, settlements: number) => `${counted(runs, RUNS)}, ${counted(settlements, SETTLEMENTS)}`,
  each: 'Per settlement',
  tokens: (input: string, output: string) => `${input} tokens in, ${output} out`,
  same: 'no change',
  up: 'up',
  down: 'down',
  seriesByAgent: 'Spend by agent',
  everyInterval: {
    '1s': 'every second',
    '5s': 'every 5 seconds',
    '15s': 'every 15 seconds',
    '1min': 'every minute',
    '1h': 'every hour',
    '1d': 'every day',
  },
  blockedMark: (calls: number) => `budget reached, ${counted(calls, CALLS)} blocked`,
  attention: 'Needs attention',
  allAlerts: 'All alerts',
  allBudgets: 'All budgets',
  spentOf: (spent: string, limit: string) => `${spent} of ${limit} spent`,
  forecastOf: (forecast: string, limit: string) => `Forecast: ${forecast} of ${limit}`,
  quiet: {
    title: 'No alert is firing',
    text: 'Firing alerts appear here, and budgets that are 80% used or whose forecast exceeds the limit.',
  },
  noRisk: {
    title: 'No budget is at risk',
    text: 'Budgets appear here once they are 80% used, or if their forecast exceeds the limit.',
  },
  unknown: {
    title: 'Budgets are unavailable',
    text: 'Their spend cannot be read right now. They appear here once it can be.',
  },
  top: 'Top agents',
  allAgents: 'All agents',
  noAgents: {
    title: 'No spend in this time range',
    text: 'Agents appear here when a gateway reports their spend. Or choose a longer time range.',
  },
  column: {
    agent: 'Agent',
    spend: 'Spend',
    share: 'Share',
    trend: 'Trend',
    used: 'Budget used today',
    blocked: 'Blocked',
    seen: 'Last seen',
  },
  trendOf: (agent: string) => `Spend trend of ${agent}`,
};
