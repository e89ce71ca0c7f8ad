import type { Api } from '@tollkeeper/client';
import { money } from '../format/money.ts';
import { count } from '../format/numbers.ts';
import { duration } from '../format/time.ts';
import { eventsOf, firstEventOf } from './events.ts';
import { inWords } from './lengths.ts';
import { counted } from './plurals.ts';

/** Whose events they were: before a count, and behind a first event. */
const WHOSE: Record<Api.Alert['scope_type'], (id: string) => { before: string; behind: string }> = {
  workspace: () => ({ before: '', behind: 'any agent' }),
  tenant: () => ({ before: '', behind: 'any agent' }),
  agent: (id) => ({ before: `${id}: `, behind: id }),
};

/** What happened, in one sentence. */
export function alertLine(alert: Api.Alert): string {
  const { rule_kind, scope_id, scope_type, event_count, threshold, event_types, spend, window } = alert;
  const windowMs = Date.parse(window.end) - Date.parse(window.start);
  const whose = WHOSE[scope_type](scope_id);
  const events = `${whose.before}${count(event_count)} ${eventsOf(event_types, event_count)}`;
  switch (rule_kind) {
    case 'spend_gte':
      return `${whose.before}${money(spend!.settled_micros)} spent within ${duration(windowMs)} (threshold ${money(spend!.threshold_micros)})`;
    case 'first_occurrence':
      return `First ${firstEventOf(event_types)} in ${inWords(windowMs / 1_000)}, ${whose.behind}`;
    case 'event_count_gte':
      // One event is enough: how long the rule waits for it says nothing.
      return threshold === 1 ? events : `${events} within ${duration(windowMs)} (threshold ${count(threshold)})`;
  }
  // A newer service may have kinds that this page does not know.
  return events;
}

const DELIVERY_STATUS: Record<string, string> = {
  queued: 'queued',
  retrying: 'retrying',
  delivered: 'delivered',
  failed: 'failed',
};

/** The notifier may know more of them. */
export function deliveryStatus(status: string): string {
  return DELIVERY_STATUS[status] ?? status;
}

const ATTEMPTS = { one: 'attempt', other: 'attempts' };
const EVENTS = { one: 'event', other: 'events' };

export const alerts = {
  title: 'Alerts',
  line: 'Alerts fired by rules, newest first',
  severity: { critical: 'critical', high: 'high', medium: 'medium', low: 'low', info: 'info' },
  status: { firing: 'firing', acknowledged: 'acknowledged', resolved: 'resolved' },
  filter: {
    severity: 'Severity',
    status: 'Status',
    rule: 'Rule',
    any: 'Any',
    from: 'From',
    to: 'To',
    clear: 'Clear filters',
  },
  column: { alert: 'Alert', severity: 'Severity', status: 'Status', when: 'Fired', delivery: 'Delivery' },
  none: {
    title: 'No matching alerts',
    text: 'Alerts appear here when a rule fires. Change or clear the filters to see more.',
    pastEnd: 'The list ends before this page.',
  },
  page: (from: number, to: number, total: string) => `${from}–${to} of ${total}`,
  newer: 'Newer',
  older: 'Older',
  newest: 'Go to newest',
  detail: 'Alert',
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  acknowledged: 'Alert acknowledged',
  resolved: 'Alert resolved',
  fact: {
    rule: 'Rule',
    scope: 'Scope',
    window: 'Time window',
    triggered: 'Fired',
    acknowledged: 'Acknowledged',
    resolved: 'Resolved',
    by: (who: string) => `by ${who}`,
    samples: 'Sample events',
    workspace: 'Workspace',
  },
  deliveries: 'Notified',
  noDeliveries: 'No one was notified: the rule has no channel.',
  delivery: {
    'alert.fired': 'alert fired',
    'alert.resolved': 'alert resolved',
    attempts: (attempts: number) => counted(attempts, ATTEMPTS),
    answered: (status: number) => `returned ${status}`,
    next: 'next attempt',
  },
  evaluations: 'Rule evaluations',
  evaluation: {
    condition_became_true: 'Fired: the condition became true.',
    condition_still_true_after_cooldown: 'Fired again: still true after the cooldown.',
    cooldown: 'Not fired: true, but within the cooldown of the last alert.',
    rate_limited: 'Not fired: true, but too many alerts in a short time.',
    counted: (events: number, threshold: number) => `${count(events)} of ${counted(threshold, EVENTS)}`,
    spent: (spent: number, threshold: number) => `${money(spent)} of ${money(threshold)}`,
  },
  noEvaluations: 'The condition of the rule has not been true in the retention period.',
};
