/**
 * Lengths of the pieces that a query reads from roll-ups, longest first. They start at multiples of their length since
 * the epoch. Every UTC offset in use is a multiple of 15 minutes, so each local hour and day consists of whole pieces.
 */
export const GRAINS = ['1d', '1h', '15m', '1m'] as const;
export type Grain = (typeof GRAINS)[number];

/**
 * Only the totals of the workspace are counted by the minute. That keeps the cost of a window's ends independent of the
 * traffic. For each agent and model, there would be nearly as many minutes as events.
 */
export const AGENT_GRAINS: readonly Grain[] = ['1d', '1h', '15m'];

export const GRAIN_MS: Record<Grain, number> = { '1d': 86_400_000, '1h': 3_600_000, '15m': 900_000, '1m': 60_000 };
