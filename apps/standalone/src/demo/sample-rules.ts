import { SAMPLE_INBOX_URL } from './sample-inbox.ts';

const atPercent = (percent: number) => ({
  rule_kind: 'event_count_gte',
  rule_config: {
    window_seconds: 300,
    threshold: 1,
    filters: { event_types: ['budget.threshold_reached'], percents: [percent] },
  },
});

/** The channel of all sample alerts. */
export const SAMPLE_CHANNEL = {
  name: 'On call (sample)',
  channel_type: 'webhook',
  config: { url: SAMPLE_INBOX_URL },
};

/**
 * Alert rules of the sample workspace: one warns before a daily budget is used up, one reports that it is, one detects
 * a runaway agent, and one reports the first call in a day that a guard blocks.
 */
export const SAMPLE_RULES = [
  {
    name: '80% of a daily budget',
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
  {
    name: 'Runaway agent',
    description: 'An agent keeps calling although its budget is used up. Look at its run, and stop it.',
    severity: 'critical',
    rule_kind: 'event_count_gte',
    rule_config: { window_seconds: 600, threshold: 10, filters: { event_types: ['budget.blocked'] } },
    cooldown_seconds: 3_600,
  },
  {
    name: 'First guard block',
    description: 'A guard of the gateway has blocked a call, for the first time in a day.',
    severity: 'low',
    rule_kind: 'first_occurrence',
    rule_config: { window_seconds: 86_400, filters: { event_types: ['guard.blocked'] } },
  },
];
