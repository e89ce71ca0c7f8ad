import type { Api } from '@tollkeeper/client';

type State = Api.Raise['state'];

export const raises = {
  title: 'Raises',
  line: 'Amounts added to limits for a time, and requests for more',
  requests: {
    title: 'Requests',
    none: 'No open requests. Members ask for more on the Limits page, gateways with their workspace key.',
  },
  active: { title: 'In force', none: 'No limit is raised.' },
  earlier: {
    title: 'Earlier',
    none: { title: 'No earlier raises', text: 'Raises and requests that are over appear here.' },
  },
  column: {
    budget: 'Budget',
    amount: 'Amount',
    until: 'Until',
    by: 'Asked by',
    reason: 'Reason',
    state: 'State',
    action: 'Actions',
  },
  states: {
    requested: 'Requested',
    active: 'In force',
    declined: 'Declined',
    ended: 'Ended',
    expired: 'Expired',
  } satisfies Record<State, string>,
  /** "Per user: ada". */
  nameOf: ({ budget_name, value }: { budget_name: string; value?: string | null }) =>
    value === null || value === undefined ? budget_name : `${budget_name}: ${value}`,
  key: (id: string) => `Workspace key ${id}`,
  /** Beside a limit: "+ $10.00 until 18:00". */
  raised: (amount: string, until: string) => `+ ${amount} until ${until}`,

  ask: 'Ask for more',
  askTitle: (name: string) => `Ask for more: ${name}`,
  asked: 'Request sent to the owners',
  untilMidnight: { raise: 'Raise until midnight', ask: 'Ask for more until midnight' },
  raise: 'Raise',
  raiseTitle: (name: string) => `Raise ${name}`,
  granted: (name: string, amount: string, until: string) => `${name} raised by ${amount} until ${until}`,
  form: {
    hint: 'Adds to the limit until a time, within 2 seconds. Then the limit is what it was.',
    askHint: 'The owners of the workspace can grant another amount or time.',
    value: 'Value',
    valueHint: 'The budget has a limit for each value. Enter the one to raise.',
    amount: 'Amount to add (USD)',
    amountProblem: 'Enter an amount above 0, such as 10 or 2.50.',
    until: (zone: string) => `Until (${zone})`,
    untilProblem: 'Enter a time in the future, at most 31 days from now.',
    reason: 'Reason',
  },

  approve: 'Approve',
  approveTitle: (name: string) => `Approve more for ${name}`,
  decline: 'Decline',
  declineTitle: (name: string) => `Decline more for ${name}`,
  declineHint: 'The reason is shown to whoever asked.',
  declined: (name: string) => `Request for ${name} declined`,
  end: 'End',
  endTitle: (name: string) => `End the raise of ${name}`,
  endText: 'The limit is what it was, within 2 seconds. Calls in progress continue.',
  ended: (name: string) => `Raise of ${name} ended`,

  page: {
    title: 'Request for more',
    asks: (who: string, amount: string, name: string) => `${who} asks for ${amount} more for ${name}.`,
    amount: 'Amount',
    until: 'Until',
    reason: 'Reason',
    by: 'Asked by',
    when: 'Asked',
    state: 'State',
    declineReason: 'Reason to decline',
    /** What the link of a decided request says. */
    decided: {
      active: (who: string) => `This request was approved by ${who}.`,
      declined: (who: string) => `This request was declined by ${who}.`,
      ended: (who: string) => `This request was approved by ${who}. The raise has ended.`,
      expired: (_who: string) => 'Nobody decided about this request before its end.',
    },
    onlyOwners: 'Only owners of the workspace decide about requests.',
    badLink: 'The link has expired or is not the link of this request. You can still decide here, as an owner.',
    toList: 'All raises',
    missing: {
      title: 'No such request',
      text: 'This workspace has no raise with this address. The link may belong to another workspace.',
    },
  },
};
