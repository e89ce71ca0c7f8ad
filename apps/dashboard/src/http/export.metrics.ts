import { AppError } from '@tollkeeper/kernel';
import type { Metrics } from '@tollkeeper/runtime';

/** Passes on the pieces of an export, and counts how it ends. */
export type ObserveExport = (
  format: string,
  pieces: AsyncIterable<string>,
  signal: AbortSignal,
) => AsyncGenerator<string>;

export function createExportObserver(metrics: Metrics): ObserveExport {
  const total = metrics.counter({
    name: 'dashboard_exports_total',
    help: 'Exports of spend, by format and outcome',
    labelNames: ['format', 'outcome'],
  });
  const inProgress = metrics.gauge({
    name: 'dashboard_exports_in_progress',
    help: 'Exports of spend that clients are reading',
  });
  return async function* observed(format, pieces, signal) {
    // Unless it ends in another way, the client has disconnected.
    let outcome = 'abandoned';
    inProgress.inc();
    try {
      yield* pieces;
      outcome = 'completed';
    } catch (error) {
      if (!signal.aborted) outcome = error instanceof AppError ? 'refused' : 'failed';
      throw error;
    } finally {
      inProgress.dec();
      total.inc({ format, outcome });
    }
  };
}
