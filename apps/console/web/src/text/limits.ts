import type { Api } from '@tollkeeper/client';

export const limits = {
  title: 'Limits',
  line: (reset: string, time: string, zone: string) =>
    `Spent, held and left of each budget in its period. Daily budgets reset at ${reset} (${zone}), in ${time}`,
  none: {
    title: 'No budgets yet',
    text: 'Set a budget to block calls that would exceed it.',
    toBudgets: 'Set a budget',
  },
  scope: { workspace: 'Workspace', agent: 'Agent', plan: 'Plan', budget: 'Budget' },
  column: {
    scope: 'Scope',
    used: 'Usage',
    spent: 'Spent',
    held: 'Held',
    left: 'Left',
    budget: 'Budget',
    open: 'Open',
  },
  today: (spent: string, held: string, left: string) => `Today: ${spent} spent, ${held} held, ${left} left`,
  meter: (spent: string, held: string, budget: string) => `${spent} spent and ${held} held of ${budget}`,
  overspend: {
    title: 'Unreserved spend today',
    text: 'Only this spend can exceed a budget: the cost of a call over its reservation, after its reservation expired, or without a reservation.',
    none: 'No unreserved spend. Every call was reserved and cost no more than its reservation.',
    above_hold: 'Over the reservation',
    late: 'After it expired',
    unreserved: 'Not reserved',
  },
  reservations: {
    title: 'Reservations',
    state: 'State',
    states: { held: 'Open', settled: 'Settled', released: 'Released', expired: 'Expired' },
    none: {
      held: {
        title: 'No open reservations',
        text: 'A reservation appears here while its call is running.',
      },
      settled: { title: 'No settled reservations', text: 'Reservations appear here after their calls are settled.' },
      released: { title: 'No released reservations', text: 'Reservations of calls that never ran appear here.' },
      expired: { title: 'No expired reservations', text: 'Reservations that nobody settled in time appear here.' },
    } satisfies Record<Api.Reservation['state'], { title: string; text: string }>,
    column: { when: 'Created', agent: 'Agent', run: 'Run', amount: 'Amount', settled: 'Settled', ends: 'Expires' },
    release: 'Release',
    releaseTitle: (agent: string) => `Release the reservation of ${agent}`,
    releaseText: (amount: string) =>
      `${amount} becomes available to other calls. If the call is still running and settles later, its cost counts as unreserved spend.`,
    released: 'Reservation released',
    needed: 'Only admins and owners of the workspace can see reservations.',
  },
};
