import type { Api } from '@tollkeeper/client';
import { money } from '../format/money.ts';
import { count } from '../format/numbers.ts';
import { duration } from '../format/time.ts';
import { eventsOf } from './events.ts';

/** Whose events they were; empty for any agent of the workspace. */
const WHO: Record<Api.Alert['scope_type'], (id: string) => string> = {
  workspace: () => '',
  tenant: () => '',
  agent: (id) => `${id}: `,
};

/** What happened, in one sentence. */
export function alertLine(alert: Api.Alert): string {
  const { rule_kind, scope_id, scope_type, event_count, threshold, event_types, spend, window } = alert;
  const span = duration(Date.parse(window.end) - Date.parse(window.start));
  const who = WHO[scope_type](scope_id);
  switch (rule_kind) {
    case 'spend_gte':
      return `${who}${money(spend!.settled_micros)} spent in ${span} (from ${money(spend!.threshold_micros)}).`;
    case 'first_occurrence':
      return `${who === '' ? 'The' : `${who}the`} first ${eventsOf(event_types, 1)} in ${span}.`;
    case 'event_count_gte': {
      const from = threshold === 1 ? '' : ` (from ${count(threshold)})`;
      return `${who}${count(event_count)} ${eventsOf(event_types, event_count)} in ${span}${from}.`;
    }
  }
}

const DELIVERY_STATUS: Record<string, string> = {
  queued: 'waits',
  retrying: 'is tried again',
  delivered: 'delivered',
  failed: 'failed',
};

/** The notifier may know more of them. */
export function deliveryStatus(status: string): string {
  return DELIVERY_STATUS[status] ?? status;
}

export const alerts = {
  title: 'Alerts',
  line: 'What rules have found, newest first',
  severity: { critical: 'critical', high: 'high', medium: 'medium', low: 'low', info: 'info' },
  status: { firing: 'firing', acknowledged: 'acknowledged', resolved: 'resolved' },
  filter: {
    severity: 'Severity',
    status: 'Status',
    rule: 'Rule',
    any: 'Any',
    from: 'From',
    to: 'Until',
    clear: 'Show all',
  },
  column: { alert: 'Alert', severity: 'Severity', status: 'Status', when: 'When', told: 'Told' },
  none: {
    title: 'No alert matches',
    text: 'Rules decide what becomes an alert. With other filters there may be some.',
    pastEnd: 'The list ends before this page.',
  },
  page: (from: number, to: number, total: string) => `${from} to ${to} of ${total}`,
  newer: 'Newer',
  older: 'Older',
  newest: 'To the newest',
  detail: 'Alert',
  acknowledge: 'Acknowledge',
  resolve: 'Resolve',
  acknowledged: 'The alert is acknowledged.',
  resolved: 'The alert is resolved.',
  fact: {
    rule: 'Rule',
    scope: 'Of',
    window: 'Window',
    triggered: 'Fired',
    acknowledged: 'Acknowledged',
    resolved: 'Resolved',
    by: (who: string) => `by ${who}`,
    samples: 'Some of the events',
    workspace: 'the workspace',
  },
  deliveries: 'Who was told',
  noDeliveries: 'Nobody: the rule has no channel.',
  delivery: {
    'alert.fired': 'told that it fires',
    'alert.resolved': 'told that it is resolved',
    attempts: (attempts: number) => (attempts === 1 ? '1 attempt' : `${attempts} attempts`),
    answered: (status: number) => `answered ${status}`,
    next: 'next attempt',
  },
  evaluations: 'Why it fired, and when it did not',
  evaluation: {
    condition_became_true: 'The condition became true: it fired.',
    condition_still_true_after_cooldown: 'Still true after the pause: it fired again.',
    cooldown: 'True, but within the pause after the last alert: it did not fire.',
    rate_limited: 'True, but too many alerts in a short time: it did not fire.',
    counted: (events: number, threshold: number) => `${count(events)} of ${count(threshold)} events`,
    spent: (spent: number, threshold: number) => `${money(spent)} of ${money(threshold)}`,
  },
  noEvaluations: 'The rule’s condition has not been true in the time that is kept.',
};
