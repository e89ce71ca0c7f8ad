export const limits = {
  title: 'Limits',
  line: (reset: string, time: string, zone: string) =>
    `What is spent, held and left of each daily budget today. They reset at ${reset} (${zone}), in ${time}`,
  none: {
    title: 'No daily budget is set',
    text: 'Set a budget, and calls that would pass it are denied.',
    toBudgets: 'Set a budget',
  },
  scope: { workspace: 'Workspace', agent: 'Agent', plan: 'Plan' },
  column: { of: 'Budget of', used: 'Used', spent: 'Spent', held: 'Held', left: 'Left', budget: 'Budget', open: 'Open' },
  today: (spent: string, held: string, left: string) => `Today: ${spent} spent, ${held} held, ${left} left`,
  meter: (spent: string, held: string, budget: string) => `${spent} spent and ${held} held of ${budget}`,
  overspend: {
    title: 'Spend that no hold covered today',
    text: 'Only this can pass a budget: what a call cost above its hold, what came after its hold had ended, and what had no hold.',
    none: 'There was none: every call was reserved, and cost no more than its hold.',
    above_hold: 'Above the hold',
    late: 'After the hold',
    unreserved: 'Without a hold',
  },
  reservations: {
    title: 'Reservations',
    state: 'State',
    states: { held: 'Open', settled: 'Settled', released: 'Released', expired: 'Expired' },
    none: { title: 'There are none', text: 'A gateway that reserves before a call shows here what it holds.' },
    column: { when: 'Since', agent: 'Agent', run: 'Run', amount: 'Held', settled: 'Settled', ends: 'Ends' },
    release: 'Release',
    releaseTitle: (agent: string) => `Release the hold of ${agent}`,
    releaseText: (amount: string) =>
      `${amount} will be free for other calls. If the call is still running and settles, its cost counts as spent past the hold.`,
    released: 'The hold is released.',
    needed: 'Reservations are for admins and owners of the workspace.',
  },
};
