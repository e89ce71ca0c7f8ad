import type { Api } from '@tollkeeper/client';
import { withLabels } from '../format/labels.ts';
import { money } from '../format/money.ts';
import { count, percent } from '../format/numbers.ts';
import { eventsOf, firstEventOf, RAISE_REQUESTED } from './events.ts';
import { inWords } from './lengths.ts';

type RuleWords = Pick<Api.AlertRule, 'rule_kind' | 'rule_config' | 'scope_type' | 'scope_id'>;

/** The words for whose events a rule counts, and whose spend. */
const ANY_AGENT = { events: 'any agent', spend: 'all agents', each: 'each agent' };
const WHOSE: Record<Api.AlertRule['scope_type'], (id: string) => typeof ANY_AGENT> = {
  workspace: () => ANY_AGENT,
  tenant: () => ANY_AGENT,
  agent: (id) => ({ events: id, spend: id, each: id }),
};

/** Such a rule fires for every request, because each waits for a decision. */
export function isForEachRequest({ threshold, filters: { event_types } }: Api.AlertRule['rule_config']): boolean {
  return threshold === 1 && event_types.length === 1 && event_types[0] === RAISE_REQUESTED;
}

/** The whole rule in a sentence: "3 calls blocked by a budget within 10 minutes, any agent, with team=growth". */
export function ruleLine({ rule_kind, rule_config, scope_type, scope_id }: RuleWords): string {
  const { window_seconds, threshold, threshold_micros, filters } = rule_config;
  const whose = WHOSE[scope_type](scope_id);
  const length = inWords(window_seconds);
  const percents = filters.percents.length === 0 ? '' : ` (${filters.percents.map(ofHundred).join(', ')})`;
  const labels = withLabels(filters.labels);
  switch (rule_kind) {
    case 'event_count_gte':
      if (isForEachRequest(rule_config)) return 'Each request for a raise';
      return `${count(threshold)} ${eventsOf(filters.event_types, threshold)}${percents} within ${length}, ${whose.events}${labels}`;
    case 'first_occurrence':
      return `First ${firstEventOf(filters.event_types)}${percents} in ${length}, ${whose.events}${labels}`;
    case 'spend_gte':
      return `${money(threshold_micros)} or more spent within ${length}, ${whose.spend}${labels}`;
    case 'deviation_gte': {
      const { times = 0, min_micros = 0 } = rule_config;
      const usual = 'the median of the same hour in the last 4 weeks';
      return `${money(min_micros)} or more spent in an hour, and ${count(times)} times ${usual}, ${whose.each}${labels}`;
    }
    case 'burn_rate_gte': {
      const { budget_id, fraction = 0, long_seconds = 0, short_seconds = 0 } = rule_config;
      const budget = budget_id ?? `the daily budget, ${whose.spend}`;
      const short = `and at that rate within ${inWords(short_seconds)}`;
      return `${percent(fraction)} or more spent within ${inWords(long_seconds)}, ${short}, of ${budget}`;
    }
    case 'forecast_gte': {
      const { budget_id, percent: share = 0 } = rule_config;
      const budget = budget_id ?? `the daily budget, ${whose.spend}`;
      return `${ofHundred(share)} or more forecast for the end of the period, of ${budget}`;
    }
  }
}

function ofHundred(value: number): string {
  return percent(value / 100);
}

export const rules = {
  title: 'Rules',
  line: 'Conditions that fire an alert, and the channels they notify',
  create: 'New rule',
  edit: (name: string) => `Edit ${name}`,
  none: {
    title: 'No rules yet',
    text: 'Create a rule to get notified when calls are blocked, a budget runs low or spend is high.',
  },
  column: {
    rule: 'Rule',
    severity: 'Severity',
    state: 'State',
    fired: 'Last fired',
    channels: 'Channels',
    action: 'Actions',
  },
  enabled: 'Active',
  paused: 'Paused',
  pause: 'Pause',
  resume: 'Resume',
  pausedNow: (name: string) => `Rule ${name} paused`,
  resumed: (name: string) => `Rule ${name} resumed`,
  never: 'never',
  removeTitle: (name: string) => `Delete rule ${name}`,
  removeText: 'The rule stops firing. Its past alerts remain.',
  removed: (name: string) => `Rule ${name} deleted`,
  saved: (name: string) => `Rule ${name} saved`,
  noChannel: 'none',
  grouped: (seconds: number) => `One message for all alerts within ${inWords(seconds)}`,
  form: {
    name: 'Name',
    kind: 'Fires when',
    kinds: {
      event_count_gte: 'the number of events reaches a threshold',
      first_occurrence: 'an event occurs for the first time in a while',
      spend_gte: 'spend reaches a threshold',
      deviation_gte: 'an agent spends far more than usual',
      burn_rate_gte: 'a budget is used up too fast',
      forecast_gte: 'a budget will be used up early',
      raise_requested: 'somebody asks for more budget',
    } satisfies Record<Api.AlertRule['rule_kind'] | 'raise_requested', string>,
    events: 'Event types',
    eventsHint: 'Select none to count all.',
    percents: 'Budget thresholds',
    threshold: 'Number of events',
    amount: 'Amount in USD',
    times: 'Times the usual spend of the hour',
    timesHint: 'Usual is the median of the same hour of the week in the last 4 weeks. An agent needs a week first.',
    timesBad: 'Enter a whole number from 1 to 1,000.',
    leastAmount: 'At least, in USD per hour',
    budget: 'Budget ID',
    budgetHint: 'Such as bud_4fG0aZ8k. Leave empty for the daily budget of the workspace, or of the agent below.',
    budgetBad: 'Enter the ID of a budget, which begins with bud_, and choose no agent. Or leave it empty.',
    share: 'Percent of the budget',
    shareHint: 'How much of the budget is spent within the long window at the rate that fires.',
    shareBad: 'Enter a percentage from 0.1 to 100, with at most one decimal.',
    forecast: 'Percent of the budget',
    forecastHint: 'The forecast adds the rest of the period, at the pace of the last hours, to what is spent.',
    forecastBad: 'Enter a whole percentage from 1 to 200.',
    long: 'Long window (minutes)',
    longBad: 'Enter a whole number of minutes from 1 to 43,200 (30 days).',
    short: 'Short window (minutes)',
    shortHint: 'The rule fires only while the budget burns in this window too.',
    shortBad: 'Enter a multiple of a 60th of the long window that is shorter than it, such as 5 of 60 minutes.',
    window: 'Time window',
    windowFirst: 'Quiet time before',
    minutes: 'minutes',
    minutesBad: 'Enter a number of minutes from 1 to 43,200 (30 days).',
    thresholdBad: 'Enter a whole number from 1 to 100,000.',
    amountBad: 'Enter an amount above zero in US dollars, such as 12.50.',
    scope: 'Agent',
    scopeHint: 'Agent ID. Leave empty for any agent of the workspace.',
    labelsHint: 'A value may end with *. Only settlements and blocked calls have labels.',
    anyAgent: 'Any agent of the workspace',
    severity: 'Severity',
    pauseAfter: 'Cooldown (minutes)',
    pauseHint: 'After firing, the rule does not fire again for this long. 0 means no cooldown.',
    pauseBad: 'Enter a number of minutes from 0 to 43,200 (30 days).',
    group: 'Group alerts (minutes)',
    groupHint:
      'The message waits this long, and then lists all alerts that fired meanwhile. 0 sends each alert at once. ' +
      'PagerDuty and Opsgenie always get each alert at once.',
    groupBad: 'Enter a number of minutes from 0 to 60.',
    channels: 'Notification channels',
    routes: {
      title: 'Routes',
      hint: 'The first route whose label fits the call decides. Other alerts go to the channels above.',
      label: 'Label',
      value: 'Value, may end with *',
      channels: 'Channels of the route',
      add: 'Add route',
      remove: 'Remove route',
      bad: 'Choose a channel for each route.',
    },
    noChannels: 'No channels yet. Alerts still appear in the console.',
    description: 'Instructions for responders',
    says: 'Fires on',
  },
};
