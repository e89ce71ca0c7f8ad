/** A model of the sample traffic. Prices are USD micros per token, close to those of a real model. */
interface SampleModel {
  name: string;
  provider: string;
  inputMicros: number;
  outputMicros: number;
}

/** An agent of the sample workspace and its kind of calls. */
export interface SampleAgent {
  agentId: string;
  displayName: string;
  /** Runs per hour in the middle of a working day. */
  peakRunsPerHour: number;
  /** True for agents that also work at night and on weekends, such as scheduled ones. */
  aroundTheClock: boolean;
  models: readonly [SampleModel, ...SampleModel[]];
  /** Maximum number of model calls in one run. */
  maxCalls: number;
  /** Typical number of tokens per call, around which calls vary. */
  inputTokens: number;
  outputTokens: number;
  /** Daily budget in USD micros; once it is used up, its runs are blocked. */
  dailyBudgetMicros: number;
  /** The plan named in its settlements. */
  planKey: string;
}

const LARGE: SampleModel = { name: 'claude-sonnet-4-5', provider: 'anthropic', inputMicros: 3, outputMicros: 15 };
const SMALL: SampleModel = { name: 'claude-haiku-4-5', provider: 'anthropic', inputMicros: 1, outputMicros: 5 };
const GENERAL: SampleModel = { name: 'gpt-5', provider: 'openai', inputMicros: 1.25, outputMicros: 10 };
const FAST: SampleModel = { name: 'gemini-2.5-flash', provider: 'google', inputMicros: 0.3, outputMicros: 2.5 };

/** The agent that runs away when the sample traffic begins. */
export const RUNAWAY_AGENT: SampleAgent = {
  agentId: 'web-research',
  displayName: 'Web research',
  peakRunsPerHour: 0.4,
  aroundTheClock: false,
  models: [LARGE],
  maxCalls: 1,
  inputTokens: 12_000,
  outputTokens: 1_100,
  dailyBudgetMicros: 1_500_000,
  planKey: 'research',
};

export const SAMPLE_AGENTS: readonly [SampleAgent, ...SampleAgent[]] = [
  {
    agentId: 'support-triage',
    displayName: 'Support triage',
    peakRunsPerHour: 5,
    aroundTheClock: true,
    models: [FAST, SMALL],
    maxCalls: 2,
    inputTokens: 2_400,
    outputTokens: 260,
    dailyBudgetMicros: 1_000_000,
    planKey: 'support',
  },
  {
    agentId: 'code-review',
    displayName: 'Code review',
    peakRunsPerHour: 3,
    aroundTheClock: false,
    models: [LARGE, LARGE, GENERAL],
    maxCalls: 4,
    inputTokens: 18_000,
    outputTokens: 1_500,
    dailyBudgetMicros: 4_000_000,
    planKey: 'engineering',
  },
  {
    agentId: 'test-writer',
    displayName: 'Test writer',
    peakRunsPerHour: 2,
    aroundTheClock: false,
    models: [LARGE, GENERAL],
    maxCalls: 5,
    inputTokens: 9_000,
    outputTokens: 2_800,
    dailyBudgetMicros: 3_000_000,
    planKey: 'engineering',
  },
  {
    agentId: 'sales-research',
    displayName: 'Sales research',
    peakRunsPerHour: 2,
    aroundTheClock: false,
    models: [GENERAL, FAST],
    maxCalls: 4,
    inputTokens: 6_500,
    outputTokens: 900,
    dailyBudgetMicros: 1_200_000,
    planKey: 'sales',
  },
  {
    agentId: 'invoice-matcher',
    displayName: 'Invoice matcher',
    peakRunsPerHour: 2,
    aroundTheClock: true,
    models: [SMALL],
    maxCalls: 2,
    inputTokens: 3_800,
    outputTokens: 340,
    dailyBudgetMicros: 600_000,
    planKey: 'finance',
  },
  {
    agentId: 'release-notes',
    displayName: 'Release notes',
    peakRunsPerHour: 0.5,
    aroundTheClock: false,
    models: [LARGE],
    maxCalls: 3,
    inputTokens: 24_000,
    outputTokens: 2_200,
    dailyBudgetMicros: 1_500_000,
    planKey: 'engineering',
  },
  RUNAWAY_AGENT,
];

/** Reports of a gateway's guards, as `guard` and `reason`. */
export const SAMPLE_GUARDS: readonly [{ guard: string; reason: string }, ...{ guard: string; reason: string }[]] = [
  { guard: 'prompt_injection', reason: 'The page that the agent read asks it to ignore its instructions.' },
  { guard: 'pii', reason: 'The prompt holds what looks like a payment card number.' },
  { guard: 'tool_policy', reason: 'The agent asked for a tool that its policy does not list.' },
  { guard: 'loop_detected', reason: 'The same tool was called 12 times with the same arguments.' },
];

/** The plans named in the agents' settlements. */
export const SAMPLE_PLANS = [
  { planKey: 'support', displayName: 'Customer support', dailyBudgetMicros: 2_000_000 },
  { planKey: 'engineering', displayName: 'Engineering', dailyBudgetMicros: 10_000_000 },
  { planKey: 'sales', displayName: 'Sales', dailyBudgetMicros: 2_000_000 },
  { planKey: 'research', displayName: 'Research', dailyBudgetMicros: 3_000_000 },
  { planKey: 'finance', displayName: 'Finance', dailyBudgetMicros: 1_000_000 },
] as const;

/** Daily budget of the sample workspace in USD micros. */
export const WORKSPACE_BUDGET_MICROS = 15_000_000;
