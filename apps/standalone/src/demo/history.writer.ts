import { setTimeout as delay } from 'node:timers/promises';
import type { GatewayEvent } from '@tollkeeper/contracts';
import { sampleHistory } from './sample-history.ts';

const EVENTS_PER_APPEND = 500;
const POLL_MS = 100;

export interface HistoryWriterOptions {
  append: (events: GatewayEvent[]) => Promise<void>;
  /** Number of records in the log that the dashboard has not counted yet. */
  lag: () => Promise<number>;
  onProgress: (line: string) => void;
  /** When aborted, it rejects before the next step. */
  signal: AbortSignal;
}

/** Appends the sample history that ends at `until`, and resolves once the dashboard has counted it. */
export async function writeHistory(until: number, options: HistoryWriterOptions): Promise<void> {
  const { append, lag, onProgress, signal } = options;
  onProgress('Writing a month of sample traffic…');
  let written = 0;
  let batch: GatewayEvent[] = [];
  const flush = async () => {
    signal.throwIfAborted();
    await append(batch);
    written += batch.length;
    batch = [];
  };
  for (const events of sampleHistory(until)) {
    batch.push(...events);
    if (batch.length >= EVENTS_PER_APPEND) await flush();
  }
  await flush();
  const report = createReport(written, onProgress);
  for (let waiting = await lag(); waiting > 0; waiting = await lag()) {
    report(waiting);
    await delay(POLL_MS, undefined, { signal });
  }
}

/** Reports only every fifth of the work, so as not to flood the terminal. */
function createReport(total: number, onProgress: (line: string) => void): (waiting: number) => void {
  let shown = 0;
  return (waiting) => {
    const fifths = Math.floor(((total - waiting) / total) * 5);
    if (fifths <= shown) return;
    shown = fifths;
    onProgress(`Processed ${fifths * 20}% of ${total} sample events…`);
  };
}
