import { MultiBar } from 'cli-progress';
import type { ReplayReport, ReplayTotals } from './replay.ts';

/** Shows the progress of the replay. */
export interface TerminalReport extends ReplayReport {
  /** Prints a line beside the progress. */
  say(line: string): void;
  /** Removes the progress bar. */
  end(): void;
}

const LINE_INTERVAL_MS = 5_000;
const BAD_ROWS_SHOWN = 20;

/** A progress bar on a terminal; elsewhere a line every few seconds. */
export function createTerminalReport(out: NodeJS.WriteStream): TerminalReport {
  const bars = out.isTTY
    ? new MultiBar({ stream: out, format: '{bar} {percentage}% | {value}/{total} rows | {rate}', hideCursor: true })
    : null;
  const say = (line: string): void => void (bars ? bars.log(`${line}\n`) : out.write(`${line}\n`));
  let bar: ReturnType<MultiBar['create']> | undefined;
  let rows = 0;
  let badRows = 0;
  let startedAt = 0;
  let lineAt = 0;

  return {
    say,
    start(summary) {
      rows = summary.rows;
      startedAt = lineAt = performance.now();
      bar = bars?.create(rows, 0, { rate: '' });
    },
    skip({ line, problem }) {
      badRows += 1;
      if (badRows <= BAD_ROWS_SHOWN) say(`line ${line} skipped: ${problem}`);
      if (badRows === BAD_ROWS_SHOWN) say('further bad rows are only counted');
    },
    progress(totals) {
      const now = performance.now();
      const rate = rateOf(totals, now - startedAt);
      bar?.update(totals.posted + totals.skipped, { rate });
      if (bars !== null || now - lineAt < LINE_INTERVAL_MS) return;
      lineAt = now;
      say(`${totals.posted + totals.skipped} of ${rows} rows, ${rate}`);
    },
    end: () => bars?.stop(),
  };
}

/** The last lines: what was posted, skipped and left, and the totals. */
export function describeTotals(totals: ReplayTotals, elapsedMs: number): string {
  const { rows, posted, skipped, postedMicros } = totals;
  const dollars = (postedMicros / 1_000_000).toFixed(2);
  return [
    `rows     ${rows}`,
    `posted   ${posted} (${rateOf(totals, elapsedMs)}, ${(elapsedMs / 1_000).toFixed(1)} s)`,
    `skipped  ${skipped}`,
    `left     ${rows - posted - skipped}`,
    `sum      ${postedMicros} USD micros ($${dollars})`,
  ].join('\n');
}

function rateOf({ posted }: ReplayTotals, elapsedMs: number): string {
  return `${Math.round((posted / Math.max(elapsedMs, 1)) * 1_000)} rows/s`;
}
