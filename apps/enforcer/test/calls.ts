/** What a request has of a call of which only the agent, the run and the plan are known. */
export const UNKNOWN = { keyId: null, model: null, provider: null, labels: {}, pinned: {}, ofAgent: {} } as const;
