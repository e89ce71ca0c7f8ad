import { counted } from './plurals.ts';

const CALLS = { one: 'call', other: 'calls' };
const CALLS_OF_OTHERS = { one: 'call of another model', other: 'calls of other models' };

export const spend = {
  title: 'Spend',
  line: (from: string, to: string, zone: string) => `${from} to ${to}, ${zone}`,
  by: { label: 'Group by', whole: 'Total' },
  division: {
    agent: { name: 'Agent', groups: 'Agents', none: 'no agent reported' },
    model: { name: 'Model', groups: 'Models', none: 'no model reported' },
    plan: { name: 'Plan', groups: 'Plans', none: 'no plan reported' },
  },
  label: (name: string) => ({ name, groups: `Values of ${name}`, none: `no ${name} reported, or not tracked yet` }),
  total: 'Spend',
  settlements: 'Settlements',
  each: 'Per settlement',
  tokens: 'Tokens',
  tokensIn: 'in',
  tokensOut: 'out',
  chart: 'Spend over time',
  other: 'other (beyond the first 1,000 of a day)',
  column: {
    spend: 'Spend',
    share: 'Share',
    trend: 'Trend',
    settlements: 'Settlements',
    tokens: 'Tokens in / out',
  },
  unpriced: {
    title: 'Models without a price',
    text: 'Their calls count as $0.00, because they report tokens without a cost, and no price of the model is known. Set a price, or let the gateway report a cost, for example as gen_ai.usage.cost.',
    prices: 'Prices',
    calls: 'Calls without a price',
    others: (calls: number) => `and ${counted(calls, CALLS_OF_OTHERS)}`,
  },
  unmetered: {
    title: 'Calls without usage',
    text: (calls: number) =>
      `${counted(calls, CALLS)} reported neither tokens nor a cost, so no figure includes them. For streams, let the sender ask the provider for usage (stream_options.include_usage).`,
  },
  trendOf: (name: string) => `Spend trend of ${name}`,
  empty: {
    title: 'No spend in this time range',
    text: 'Spend appears here when a gateway reports it. Or choose a longer time range.',
  },
};
