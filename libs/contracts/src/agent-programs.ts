/**
 * Programs that report their own calls without the provider's response id, and the beginning of the settlement ids that
 * these calls get. If a gateway reports them as well, both settlements count.
 */
export const AGENT_PROGRAMS = { claude_code: 'cc:', codex: 'cx:' } as const satisfies Readonly<Record<string, string>>;

export type AgentProgram = keyof typeof AGENT_PROGRAMS;
