import { setTimeout as delay } from 'node:timers/promises';
import type { EventPoster } from './event.poster.ts';
import { createSettlements, type Settlement } from './settlement.event.ts';
import { readTrace, summarizeTrace, type BadRow, type TraceSummary } from './trace.reader.ts';

export interface ReplayTotals {
  /** Rows of the file. */
  rows: number;
  posted: number;
  /** Rows that are not calls, or that Tollkeeper refuses. */
  skipped: number;
  postedMicros: number;
}

export interface ReplayReport {
  start(summary: TraceSummary): void;
  skip(row: BadRow): void;
  /** Called after each accepted request. The totals are the same object until the end. */
  progress(totals: Readonly<ReplayTotals>): void;
}

const MAX_BATCH = 1_000;
/** Paced rows that are due within this many milliseconds are sent together. */
const PACE_STEP_MS = 200;

/**
 * Posts every row of the file in order. Rejects when the poster gives up; `totals` then says how far it came, and a
 * second replay of the file does not count the posted rows twice.
 */
export async function replay(
  options: { file: string; agents: number; speed: number | null },
  poster: EventPoster,
  report: ReplayReport,
  totals: ReplayTotals,
): Promise<void> {
  const summary = await summarizeTrace(options.file);
  totals.rows = summary.rows;
  report.start(summary);

  for await (const batch of batchesOf(options, summary, skip)) {
    await postBatch(batch);
    report.progress(totals);
  }

  function skip(row: BadRow): void {
    totals.skipped += 1;
    report.skip(row);
  }

  async function postBatch(batch: Settlement[]): Promise<void> {
    const refusals = await poster.post(batch.map(({ event }) => event));
    const accepted = batch.filter((_, index) => !refusals.has(index));
    for (const [index, problem] of refusals) skip({ line: batch[index]?.line ?? 0, problem: `refused: ${problem}` });
    if (refusals.size > 0) {
      // One bad event refuses the whole batch, so the others have not been accepted yet.
      if (accepted.length > 0) await postBatch(accepted);
      return;
    }
    totals.posted += accepted.length;
    totals.postedMicros += accepted.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  }
}

/** The rows as batches of events: full ones at once or, with a speed, those that are due together. */
async function* batchesOf(
  { file, agents, speed }: { file: string; agents: number; speed: number | null },
  { sha256, span }: TraceSummary,
  skip: (row: BadRow) => void,
): AsyncGenerator<Settlement[]> {
  const toSettlement = createSettlements(sha256, agents);
  const now = Date.now();
  const { start, end } = span ?? { start: now, end: now };
  const timeOf = (time: number): number => (speed === null ? now - (end - time) : now + (time - start) / speed);

  let batch: Settlement[] = [];
  for await (const row of readTrace(file)) {
    if ('problem' in row) {
      skip(row);
      continue;
    }
    const time = timeOf(row.time);
    const earlyMs = time - Date.now();
    if (earlyMs > 0 && speed !== null) {
      if (batch.length > 0) yield batch;
      batch = [];
      await delay(Math.max(earlyMs, PACE_STEP_MS));
    }
    batch.push(toSettlement(row, time));
    if (batch.length === MAX_BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
