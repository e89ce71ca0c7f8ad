/** Milliseconds since the Unix epoch. Injected wherever a result depends on the time of day. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();
