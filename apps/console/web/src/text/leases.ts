export const leases = {
  title: 'Leases',
  text: 'A gateway with a lease grants calls in its own memory. What is left of a lease is held, and cannot be spent elsewhere.',
  none: {
    title: 'No open leases',
    text: 'A lease appears here while its gateway grants calls from it.',
  },
  column: {
    when: 'Created',
    agent: 'Agent',
    plan: 'Plan',
    amount: 'Amount',
    settled: 'Settled',
    left: 'Left',
    ends: 'Expires',
  },
  end: 'End',
  endTitle: (agent: string) => `End the lease of ${agent}`,
  endText: (left: string) =>
    `${left} becomes available to other calls. Until its gateway learns of this, it may grant further calls from the lease. Their cost counts as spent after it expired.`,
  ended: 'Lease ended',
};
