import { parseReplayArguments, USAGE, UsageError, type ReplayOptions } from './arguments.ts';
import { createEventPoster, PostError } from './event.poster.ts';
import { replay, type ReplayTotals } from './replay.ts';
import { createTerminalReport, describeTotals } from './terminal.report.ts';
import { TraceFormatError } from './trace.reader.ts';

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const options = parseReplayArguments(process.argv.slice(2), process.env);
    if (options !== null) return await run(options);
    console.log(USAGE);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    return 1;
  }
}

async function run(options: ReplayOptions): Promise<number> {
  const report = createTerminalReport(process.stderr);
  const poster = createEventPoster({
    ...options,
    onRetry: (reason, delayMs) => report.say(`${reason}; trying again in ${(delayMs / 1_000).toFixed(1)} s`),
  });
  const totals: ReplayTotals = { rows: 0, posted: 0, skipped: 0, postedMicros: 0 };
  const startedAt = performance.now();
  const failure = await replay(options, poster, report, totals).then(
    () => null,
    (error: unknown) => explain(error, options.file),
  );
  report.end();

  if (failure === null || totals.rows > 0) console.log(describeTotals(totals, performance.now() - startedAt));
  if (failure !== null) {
    console.error(`${failure}\nRun the same command again when that is settled: nothing is counted twice.`);
    return 1;
  }
  return totals.skipped > 0 ? 2 : 0;
}

function explain(error: unknown, file: string): string {
  if (error instanceof PostError) return error.message;
  if (error instanceof TraceFormatError) return `${file}: ${error.message}`;
  if (error instanceof Error && 'code' in error && 'syscall' in error) {
    return error.code === 'ENOENT' ? `There is no file ${file}` : `${file} cannot be read: ${error.message}`;
  }
  throw error;
}
