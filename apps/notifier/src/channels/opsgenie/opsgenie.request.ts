import type { Severity } from '@tollkeeper/contracts';
import type { Message } from '../../domain/message.ts';
import { alertSentence } from '../alert.sentence.ts';
import { detailsOf, type IncidentAction, incidentActionOf, incidentKeyOf, scopeOf, severityIn } from '../incident.ts';
import { ruleNameOf, shown, stepsOf } from '../message.text.ts';

const MAX_MESSAGE_LENGTH = 130;
const MAX_DESCRIPTION_LENGTH = 5000;
const SOURCE = 'Tollkeeper';

const PRIORITIES: Record<Severity, 'P1' | 'P2' | 'P3' | 'P4' | 'P5'> = {
  critical: 'P1',
  high: 'P2',
  medium: 'P3',
  low: 'P4',
  info: 'P5',
};

interface Call {
  /** Below the alert, which its alias names; null for all alerts. */
  path: string | null;
  body(message: Message): object;
}

const CALLS: Record<IncidentAction, Call> = {
  trigger: { path: null, body: alertOf },
  acknowledge: { path: 'acknowledge', body: noteOf('Acknowledged in Tollkeeper') },
  resolve: { path: 'close', body: noteOf('Resolved in Tollkeeper') },
};

/** The URL and JSON body for Opsgenie's Alert API, whose alerts are at `url`. */
export function opsgenieRequest(url: string, message: Message): { url: string; body: string } {
  const { path, body } = CALLS[incidentActionOf(message)];
  const target = new URL(url);
  if (path !== null) {
    target.pathname = `${target.pathname.replace(/\/$/, '')}/${encodeURIComponent(incidentKeyOf(message))}/${path}`;
    target.searchParams.set('identifierType', 'alias');
  }
  return { url: target.href, body: JSON.stringify(body(message)) };
}

function alertOf(message: Message): object {
  const sentence = alertSentence(message.alert);
  return {
    message: shown(`${ruleNameOf(message)}: ${sentence}`, MAX_MESSAGE_LENGTH),
    alias: incidentKeyOf(message),
    description: shown(sentence, MAX_DESCRIPTION_LENGTH),
    priority: severityIn(PRIORITIES, message),
    entity: scopeOf(message),
    source: SOURCE,
    tags: ['tollkeeper'],
    // Opsgenie shows them as links.
    details: { ...detailsOf(message), ...Object.fromEntries(stepsOf(message).map(({ text, url }) => [text, url])) },
  };
}

function noteOf(what: string) {
  return ({ links }: Message): object => ({ source: SOURCE, user: SOURCE, note: `${what}: ${links.page}` });
}
