const ACTIONS: Record<string, string> = {
  'budget.create': 'Created a budget',
  'budget.update': 'Updated a budget',
  'budget.delete': 'Deleted a budget',
  'budget.workspace.set': 'Set the workspace budget',
  'budget.agent.set': 'Set an agent budget',
  'plan.create': 'Created a plan',
  'plan.update': 'Updated a plan',
  'plan.delete': 'Deleted a plan',
  'price.set': 'Set a price',
  'pause.create': 'Paused calls',
  'pause.end': 'Resumed calls',
  'raise.request': 'Asked for a raise',
  'raise.grant': 'Raised a limit',
  'raise.decline': 'Declined a raise',
  'raise.end': 'Ended a raise',
  'repricing.create': 'Priced calls again',
  'reconciliation.create': 'Compared with a cost file',
  'key.create': 'Created a key',
  'key.update': 'Changed a key',
  'key.revoke': 'Revoked a key',
  'rule.create': 'Created a rule',
  'rule.update': 'Updated a rule',
  'rule.delete': 'Deleted a rule',
  'channel.create': 'Created a channel',
  'channel.update': 'Updated a channel',
  'channel.delete': 'Deleted a channel',
  'channel.disable': 'Disabled an unreachable channel',
  'channel.test': 'Sent a test to a channel',
  'channel.confirm': 'Confirmed an address of a channel',
  'channel.stop': 'Stopped mail to an address of a channel',
  'alert.acknowledge': 'Acknowledged an alert',
  'alert.resolve': 'Resolved an alert',
  'reservation.release': 'Released a reservation',
  'lease.return': 'Ended a lease',
  'session.create': 'Logged in',
  'session.refuse': 'Failed to log in',
  'session.delete': 'Logged out',
  'user.password.change': 'Changed a password',
  'user.password.link': 'Created a password reset link',
  'user.password.reset': 'Reset a password with a link',
  'user.provider.link': 'Linked an account to single sign-on',
  'workspace.create': 'Created the workspace',
  'workspace.update': 'Updated the workspace',
  'member.add': 'Added a member',
  'member.role.change': 'Changed the role of a member',
  'member.remove': 'Removed a member',
  'member.leave': 'Left the workspace',
  'invitation.create': 'Invited a member',
  'invitation.delete': 'Revoked an invitation',
  'invitation.accept': 'Accepted an invitation',
  'agent.create': 'Created an agent',
  'agent.update': 'Changed an agent',
};

/** The action in words. A newer service may record actions that this page does not know. */
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
  line: 'Changes made in the last 400 days, newest first',
  actions: Object.entries(ACTIONS),
  exportAll: 'Export',
  exportHint: 'All records that match the filters, as JSON Lines',
  filter: {
    actor: 'Actor',
    anybody: 'Anyone',
    action: 'Action',
    anything: 'Any action',
    target: 'Target ID',
    from: 'From',
    to: 'To',
    clear: 'Clear filters',
  },
  column: { when: 'Time', who: 'Actor', what: 'Action', target: 'Target', fields: 'Fields' },
  none: { title: 'No matching records', text: 'Change or clear the filters to see more.' },
  record: 'Audit record',
  fact: {
    when: 'Time',
    who: 'Actor',
    what: 'Action',
    target: 'Target',
    address: 'IP address',
    agent: 'User agent',
    request: 'Request',
    sequence: 'Sequence number',
    hash: 'Hash',
  },
  changes: 'Changes',
  noChanges: 'No fields changed.',
  change: { field: 'Field', from: 'Before', to: 'After' },
  value: { none: 'not set', empty: 'empty', yes: 'yes', no: 'no' },
  copy: (what: string) => `Copy ${what}`,
};
