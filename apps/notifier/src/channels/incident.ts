import { SEVERITIES, type Severity } from '@tollkeeper/contracts';
import type { Message } from '../domain/message.ts';
import { shown } from './message.text.ts';

const MAX_ID_LENGTH = 128;

/** What a notification does to the incident of its alert. */
export type IncidentAction = 'trigger' | 'acknowledge' | 'resolve';

const ACTIONS = new Map<string, IncidentAction>([
  ['alert.acknowledged', 'acknowledge'],
  ['alert.resolved', 'resolve'],
]);

/** A type of a newer release of alerts adds to the incident, which opens if there is none. */
export function incidentActionOf({ type }: Message): IncidentAction {
  return ACTIONS.get(type) ?? 'trigger';
}

/** The same for all notifications of an alert, so that they reach one incident. */
export function incidentKeyOf({ alert }: Message): string {
  return alert.id;
}

/** The severity in the words of an incident tool. A newer release of alerts may have another one. */
export function severityIn<Word>(words: Record<Severity, Word>, { alert }: Message): Word {
  return words[SEVERITIES.find((each) => each === alert.severity) ?? 'high'];
}

/** Whose calls the alert is about. */
export function scopeOf({ alert }: Message): string {
  return `${shown(alert.scope_type)} ${shown(alert.scope_id, MAX_ID_LENGTH)}`;
}

/** What people search for in the incident tool. */
export function detailsOf(message: Message): Record<string, string> {
  const { alert, links } = message;
  return {
    workspace_id: shown(alert.tenant_id, MAX_ID_LENGTH),
    rule_id: shown(alert.rule_id, MAX_ID_LENGTH),
    alert_id: shown(alert.id, MAX_ID_LENGTH),
    severity: shown(alert.severity),
    scope: scopeOf(message),
    url: links.page,
  };
}
