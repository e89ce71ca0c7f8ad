const atPercent = (percent: number) => ({
  rule_kind: 'event_count_gte',
  rule_config: {
    window_seconds: 300,
    threshold: 1,
    filters: { event_types: ['budget.threshold_reached'], percents: [percent] },
  },
});

/** Alert rules of the sample workspace: one warns before a daily budget is used up, and one says that it is. */
export const SAMPLE_RULES = [
  {
    name: '80 % of a daily budget',
    description: 'A daily budget is nearly used up. Raise it, or its calls will be blocked.',
    severity: 'medium',
    ...atPercent(80),
  },
  {
    name: 'Daily budget used up',
    description: 'Calls are blocked until the budget is raised, or until the day ends.',
    severity: 'critical',
    ...atPercent(100),
  },
];
