import { askServer, startServer } from './server.process.ts';

/** A time in which the machine stood still, in epoch milliseconds. */
export interface Pause {
  from: number;
  to: number;
}

/** A call, in epoch milliseconds. */
export interface TimedCall {
  since: number;
  tookMs: number;
}

export interface PauseWatch {
  /** The pauses since the last question, or since the start. */
  take(): Promise<Pause[]>;
  stop(): Promise<void>;
}

/** Watches the machine with a process of the highest priority, which needs root. */
export async function watchPauses(): Promise<PauseWatch> {
  const server = await startServer('pause.watch.ts');
  return { take: async () => (await askServer(server, {})) as Pause[], stop: server.stop };
}

/**
 * The calls that no pause delayed: those that were over before it began, or were due at least its own length after its
 * end, since what waited meanwhile is served first.
 */
export function withoutPauses(calls: readonly TimedCall[], pauses: readonly Pause[]): TimedCall[] {
  return calls.filter(({ since, tookMs }) =>
    pauses.every(({ from, to }) => since + tookMs < from || since >= to + (to - from)),
  );
}
