import type { Severity } from '@tollkeeper/contracts';
import type { Message } from '../../domain/message.ts';
import { alertSentence } from '../alert.sentence.ts';
import { detailsOf, type IncidentAction, incidentActionOf, incidentKeyOf, scopeOf, severityIn } from '../incident.ts';
import { linksOf, ruleNameOf, shown } from '../message.text.ts';

const MAX_SUMMARY_LENGTH = 1024;

const SEVERITIES: Record<Severity, 'critical' | 'error' | 'warning' | 'info'> = {
  critical: 'critical',
  high: 'error',
  medium: 'warning',
  low: 'warning',
  info: 'info',
};

/** An acknowledgement and a resolution name only the incident. */
const DETAILS: Record<IncidentAction, (message: Message) => object> = {
  trigger: incidentOf,
  acknowledge: () => ({}),
  resolve: () => ({}),
};

/** The JSON body of an event for PagerDuty's Events API v2. */
export function pagerdutyBody(routingKey: string, message: Message): string {
  const action = incidentActionOf(message);
  const event = { routing_key: routingKey, event_action: action, dedup_key: incidentKeyOf(message) };
  return JSON.stringify({ ...event, ...DETAILS[action](message) });
}

function incidentOf(message: Message): object {
  const { alert, links } = message;
  const { page } = links;
  return {
    payload: {
      summary: shown(`${ruleNameOf(message)}: ${alertSentence(alert)}`, MAX_SUMMARY_LENGTH),
      source: new URL(page).host,
      severity: severityIn(SEVERITIES, message),
      timestamp: alert.triggered_at,
      component: scopeOf(message),
      class: shown(alert.rule_kind),
      custom_details: detailsOf(message),
    },
    client: 'Tollkeeper',
    client_url: page,
    links: linksOf(message).map(({ text, url }) => ({ href: url, text })),
  };
}
