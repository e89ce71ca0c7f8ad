import type { Api } from '@tollkeeper/client';

/** What a pause can be for, in the form. */
export const PAUSED_THINGS = ['agent', 'key', 'label'] as const;
export type PausedThing = (typeof PAUSED_THINGS)[number];

const NAMES: Record<PausedThing, string> = { agent: 'Agent', key: 'Workspace key', label: 'Label' };

/** Undefined for a scope of a newer service. */
export function pausedThing(scope: string): PausedThing | undefined {
  return PAUSED_THINGS.find((thing) => thing === scope.replace(/:.*/s, ''));
}

const BEFORE_VALUE: Record<PausedThing, (scope: string) => string> = {
  agent: () => NAMES.agent,
  key: () => NAMES.key,
  label: (scope) => `${NAMES.label} ${scope.slice('label:'.length)}:`,
};

/** "Agent research", "Label team: growth". */
function nameOf({ scope, value }: Pick<Api.Pause, 'scope' | 'value'>): string {
  const thing = pausedThing(scope);
  return `${thing === undefined ? scope : BEFORE_VALUE[thing](scope)} ${value}`;
}

export const pauses = {
  title: 'Paused',
  text: 'Calls of what is paused are blocked, whatever the budgets. What they have spent is still counted.',
  none: 'Nothing is paused.',
  pause: 'Pause',
  pauseTitle: (name: string) => `Pause ${name}`,
  pauseAny: 'Pause calls',
  paused: (name: string) => `${name} paused`,
  resume: 'Resume',
  resumeTitle: (name: string) => `Resume ${name}`,
  resumeText: 'Its calls are decided by their budgets again, within 2 seconds.',
  resumed: (name: string) => `${name} resumed`,
  nameOf,
  column: { what: 'What', until: 'Until', reason: 'Reason', by: 'Paused by' },
  /** Above the figures of a paused agent. */
  notice: (name: string) => `${name} is paused`,
  line: (by: string, reason: string) => `Paused by ${by}: ${reason}`,
  until: 'Until',
  form: {
    hint: 'New calls are blocked within 2 seconds. Calls in progress continue. A gateway with a lease grants calls from it until it settles or renews the lease.',
    what: 'What',
    things: NAMES,
    label: 'Label name',
    value: { agent: 'Agent ID', key: 'Key ID', label: 'Label value' } satisfies Record<PausedThing, string>,
    time: 'For',
    times: {
      hour: '1 hour',
      hours: '8 hours',
      day: '24 hours',
      week: '7 days',
      open: 'Until resumed, at most 31 days',
    },
    reason: 'Reason',
    reasonHint: 'Callers see it when they are blocked, with your name.',
  },
};
