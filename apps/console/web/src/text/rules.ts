import type { Api } from '@tollkeeper/client';
import { money } from '../format/money.ts';
import { count } from '../format/numbers.ts';
import { eventsOf } from './events.ts';

/** "10 minutes", "1 hour", "2 days": a length that a person chose. */
function inWords(seconds: number): string {
  for (const [size, name] of [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const) {
    if (seconds >= size && seconds % size === 0) return plural(seconds / size, name);
  }
  return plural(seconds, 'second');
}

function plural(value: number, name: string): string {
  return `${count(value)} ${name}${value === 1 ? '' : 's'}`;
}

type RuleWords = Pick<Api.AlertRule, 'rule_kind' | 'rule_config' | 'scope_type' | 'scope_id'>;

/** Whose events a rule counts, and whose spend. */
const OF_ANY = { of: 'of any agent', by: 'by all agents together' };
const WHOSE: Record<Api.AlertRule['scope_type'], (id: string) => typeof OF_ANY> = {
  workspace: () => OF_ANY,
  tenant: () => OF_ANY,
  agent: (id) => ({ of: `of ${id}`, by: `by ${id}` }),
};

/** The whole rule in a sentence: "3 calls blocked by a budget of any agent within 10 minutes". */
export function ruleLine({ rule_kind, rule_config, scope_type, scope_id }: RuleWords): string {
  const { window_seconds, threshold, threshold_micros, filters } = rule_config;
  const { of, by } = WHOSE[scope_type](scope_id);
  const length = inWords(window_seconds);
  const percents = filters.percents.length === 0 ? '' : ` (at ${filters.percents.join(', ')} %)`;
  switch (rule_kind) {
    case 'event_count_gte':
      return `${count(threshold)} ${eventsOf(filters.event_types, threshold)}${percents} ${of} within ${length}`;
    case 'first_occurrence':
      return `The first ${eventsOf(filters.event_types, 1)}${percents} ${of}, once ${length} without one have passed`;
    case 'spend_gte':
      return `${money(threshold_micros)} or more spent ${by} within ${length}`;
  }
}

export const rules = {
  title: 'Rules',
  line: 'What becomes an alert, and who is told',
  create: 'New rule',
  edit: (name: string) => `Edit ${name}`,
  none: {
    title: 'No rules yet',
    text: 'A rule watches the events of the gateways and tells a channel when its condition is true.',
  },
  column: {
    rule: 'Rule',
    severity: 'Severity',
    state: 'State',
    fired: 'Last fired',
    channels: 'Channels',
    action: 'Actions',
  },
  enabled: 'Watching',
  paused: 'Paused',
  pause: 'Pause',
  goOn: 'Go on',
  pausedNow: (name: string) => `${name} is paused.`,
  goesOn: (name: string) => `${name} watches again.`,
  never: 'never',
  removeTitle: (name: string) => `Delete the rule ${name}`,
  removeText: 'It watches no longer. The alerts that it made stay.',
  removed: (name: string) => `The rule ${name} is deleted.`,
  saved: (name: string) => `The rule ${name} is saved.`,
  noChannel: 'none: nobody is told',
  form: {
    name: 'Name',
    kind: 'It fires when',
    kinds: {
      event_count_gte: 'events reach a number within a time',
      first_occurrence: 'an event happens for the first time in a while',
      spend_gte: 'spend reaches an amount within a time',
    } satisfies Record<Api.AlertRule['rule_kind'], string>,
    events: 'Events that count',
    eventsHint: 'None chosen means all.',
    percents: 'Thresholds that count',
    threshold: 'How many events',
    amount: 'How much, in USD',
    window: 'Within',
    windowFirst: 'After how long without one',
    minutes: 'minutes',
    minutesBad: 'Write a number of minutes from 1 to 43,200 (30 days).',
    thresholdBad: 'Write a whole number from 1 to 100,000.',
    amountBad: 'Write an amount above zero in US dollars, such as 12.50.',
    scope: 'Of which agent',
    scopeHint: 'Its id. Empty means any agent of the workspace.',
    anyAgent: 'Any agent of the workspace',
    severity: 'Severity',
    pauseAfter: 'Minutes of quiet after it fired',
    pauseHint: 'In this time it does not fire again. 0 means no pause.',
    pauseBad: 'Write a number of minutes from 0 to 43,200 (30 days).',
    channels: 'Who is told',
    noChannels: 'There is no channel yet. The alert is shown here all the same.',
    description: 'What to do when it fires',
    says: 'It fires on',
  },
};
