/** The call that all deciders decide about: three limits apply to it, and none of them ever blocks. */
export const AGENT_ID = 'agent-bench';
export const PLAN_KEY = 'pro';
export const AMOUNT_MICROS = 100;
export const DAILY_BUDGET_MICROS = 9_000_000_000_000;
/** Longer than a round and its clean-up: reservations end because they are settled or released. */
export const TTL_SECONDS = 600;
export const ACCOUNTS = ['workspace', 'agent', 'plan'] as const;
