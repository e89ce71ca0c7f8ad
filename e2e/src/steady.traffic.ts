import type { ReportingGateway } from './reporting.gateway.ts';

const INTERVAL_MS = 200;
/** Small: a fault hits the batches in flight, and more events in each would only take processor time. */
export const BATCH_SIZE = 5;

/** A gateway, and the next events or calls that it reports. */
export interface TrafficSource<T = unknown> {
  readonly gateway: Pick<ReportingGateway<T>, 'report' | 'drained'>;
  nextBatch(size: number): T[];
}

export interface SteadyTraffic {
  /** Stops it; resolves once all that was sent is accepted. */
  stop(): Promise<void>;
}

/**
 * Sends twenty-five events or calls a second for each of the workspaces, whatever the answers are. Those that are not
 * accepted yet wait at the gateway.
 */
export function startSteadyTraffic(workspaces: readonly TrafficSource[]): SteadyTraffic {
  const failures: unknown[] = [];
  const timer = setInterval(() => {
    for (const { gateway, nextBatch } of workspaces) {
      gateway.report(nextBatch(BATCH_SIZE)).catch((error: unknown) => failures.push(error));
    }
  }, INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(workspaces.map(({ gateway }) => gateway.drained()));
      if (failures.length > 0) throw new AggregateError(failures, String(failures[0]));
    },
  };
}
