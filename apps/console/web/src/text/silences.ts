import type { Api } from '@tollkeeper/client';

export const WEEKDAYS = [
  ['monday', 'Monday'],
  ['tuesday', 'Tuesday'],
  ['wednesday', 'Wednesday'],
  ['thursday', 'Thursday'],
  ['friday', 'Friday'],
  ['saturday', 'Saturday'],
  ['sunday', 'Sunday'],
] as const satisfies readonly (readonly [Api.MaintenanceWindow['weekdays'][number], string])[];

type Matcher = Pick<Api.AlertSilenceInput['matchers'][number], 'field' | 'op' | 'value'>;

/** "severity=low, label:team!=growth"; that it is about every alert without any. */
export function matcherLine(matchers: readonly Matcher[]): string {
  return matchers.map(({ field, op, value }) => `${field}${op}${value}`).join(', ') || silences.everyAlert;
}

/** "Monday, Friday 22:00–06:00, Europe/Zurich"; "Every day" for all of them. */
export function timesLine(window: Pick<Api.MaintenanceWindow, 'weekdays' | 'start' | 'end' | 'time_zone'>): string {
  const { weekdays, start, end, time_zone: zone } = window;
  const named = WEEKDAYS.filter(([day]) => weekdays.includes(day)).map(([, name]) => name);
  const days = named.length === WEEKDAYS.length ? silences.everyDay : named.join(', ');
  return `${days} ${start}–${end}, ${zone}`;
}

export const silences = {
  title: 'Silences',
  none: 'No alert is silenced.',
  text: 'Alerts that fire while they are silenced appear below. Their messages are sent when the silence ends, if they are still open.',
  everyAlert: 'every alert',
  everyDay: 'Every day',
  silence: 'Silence alerts',
  silenceThis: 'Silence',
  addWindow: 'Add maintenance window',
  editWindow: (name: string) => `Edit ${name}`,
  created: 'Alerts silenced',
  windowSaved: (name: string) => `Maintenance window ${name} saved`,
  end: 'End',
  endTitle: 'End the silence',
  endText: 'What it holds back is sent within seconds.',
  ended: 'Silence ended',
  remove: 'Delete',
  removeTitle: (name: string) => `Delete maintenance window ${name}`,
  removed: (name: string) => `Maintenance window ${name} deleted`,
  column: { alerts: 'Alerts', when: 'When', reason: 'Reason', by: 'Created by', action: 'Actions' },
  state: { pending: 'from', active: 'until', expired: 'ended' },
  /** Of an alert, or of a message that was held back. */
  by: ({ kind, created_by: { name }, reason }: Pick<Api.AlertMutedBy, 'kind' | 'created_by' | 'reason'>) =>
    ({ silence: `by ${name}: ${reason}`, maintenance: `by a maintenance window of ${name}: ${reason}` })[kind],
  silenced: 'Silenced',
  heldBack: 'Held back',
  until: 'until',
  form: {
    hint: 'Rules still fire. The messages about alerts that fire from now on are held back and sent afterwards.',
    matchers: 'Alerts',
    matchersHint:
      'One condition per line; an alert must meet all of them. Fields: rule_name, rule_id, severity, agent_id, label:team. Use = or !=; a value may end with *. Leave empty for every alert.',
    matcherBad: (line: number) => `Line ${line}: write a field, = or !=, and a value, such as severity=low.`,
    time: 'For',
    times: { hour: '1 hour', hours: '8 hours', day: '24 hours', week: '7 days' },
    reason: 'Reason',
    reasonHint: 'It is shown with each message that is held back.',
    name: 'Name',
    weekdays: 'Begins on',
    weekdaysBad: 'Choose at least one day.',
    start: 'From',
    end: 'To',
    endHint: 'If this is not later than the beginning, it is on the next day.',
    zone: 'Time zone',
  },
};
