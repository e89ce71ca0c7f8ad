const ACTIONS: Record<string, string> = {
  'budget.workspace.set': 'Set the budget of the workspace',
  'budget.agent.set': 'Set the budget of an agent',
  'plan.create': 'Created a plan',
  'plan.update': 'Changed a plan',
  'plan.delete': 'Deleted a plan',
  'key.create': 'Created a key',
  'key.revoke': 'Revoked a key',
  'rule.create': 'Created a rule',
  'rule.update': 'Changed a rule',
  'rule.delete': 'Deleted a rule',
  'channel.create': 'Created a channel',
  'channel.update': 'Changed a channel',
  'channel.delete': 'Deleted a channel',
  'channel.disable': 'Disabled a channel that is gone',
  'channel.test': 'Sent a test to a channel',
  'alert.acknowledge': 'Acknowledged an alert',
  'alert.resolve': 'Resolved an alert',
  'reservation.release': 'Released a hold',
  'session.create': 'Logged in',
  'session.refuse': 'Failed to log in',
  'session.delete': 'Logged out',
  'user.password.change': 'Changed a password',
  'user.password.link': 'Made a link to reset a password',
  'user.password.reset': 'Reset a password by a link',
  'user.provider.link': 'Linked an account to single sign-on',
  'workspace.create': 'Created the workspace',
  'workspace.update': 'Changed the workspace',
  'member.add': 'Added a member',
  'member.role.change': 'Changed the role of a member',
  'member.remove': 'Removed a member',
  'member.leave': 'Left the workspace',
  'invitation.create': 'Invited somebody',
  'invitation.delete': 'Revoked an invitation',
  'invitation.accept': 'Joined by an invitation',
  'agent.create': 'Created an agent',
  'agent.update': 'Renamed an agent',
};

/** What was done. A newer service may do what this page has no words for. */
export function actionName(action: string): string {
  return ACTIONS[action] ?? action;
}

/** A value before or after a change. */
export function valueText(value: string | number | boolean | null | readonly (string | number)[]): string {
  if (value === null) return audit.value.none;
  if (typeof value === 'boolean') return value ? audit.value.yes : audit.value.no;
  if (typeof value === 'object') return value.length === 0 ? audit.value.empty : value.join(', ');
  return value === '' ? audit.value.empty : String(value);
}

export const audit = {
  title: 'Audit log',
  line: 'Who changed what in the last 400 days, newest first',
  actions: Object.entries(ACTIONS),
  exportAll: 'Export',
  exportHint: 'All records of these filters, a JSON object in each line',
  filter: {
    actor: 'By',
    anybody: 'Anybody',
    action: 'What',
    anything: 'Anything',
    target: 'Id of what was changed',
    from: 'From',
    to: 'Until',
    clear: 'Show all',
  },
  column: { when: 'Happened', who: 'Who', what: 'What', target: 'Of', fields: 'Fields' },
  none: { title: 'No record matches', text: 'With other filters there may be some.' },
  record: 'Audit record',
  fact: {
    when: 'When',
    who: 'Who',
    what: 'What',
    target: 'Of',
    address: 'From the address',
    agent: 'With',
    request: 'Request',
    sequence: 'Place in the chain',
    hash: 'Hash',
  },
  changes: 'What changed',
  noChanges: 'No field differs.',
  change: { field: 'Field', from: 'Before', to: 'After' },
  value: { none: 'not set', empty: 'empty', yes: 'yes', no: 'no' },
  copy: (what: string) => `Copy the ${what}`,
};
