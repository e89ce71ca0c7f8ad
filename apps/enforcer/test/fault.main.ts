// `npm run faults:enforcer -- 1000000 12`: number of calls and kills. Of three kills, two hit a replica of the
// enforcer, and one the primary of its MongoDB. Prints the tables of docs/faults.md.
import { runFaults } from './fault.run.ts';

const writeLine = (to: NodeJS.WriteStream, line: string) => void to.write(`${line}\n`);
const calls = Number(process.argv[2] ?? 100_000);
const kills = Number(process.argv[3] ?? 6);
if (!Number.isSafeInteger(calls) || calls < 1000 || !Number.isSafeInteger(kills) || kills < 0) {
  writeLine(
    process.stderr,
    'Say how many calls to make, 1000 at least, and kills: npm run faults:enforcer -- 100000 12',
  );
  process.exit(2);
}
const report = await runFaults({
  calls,
  kills: { replica: kills - Math.floor(kills / 3), primary: Math.floor(kills / 3) },
  seed: Date.now(),
  log: 'kafka',
  onProgress: (line) => writeLine(process.stderr, line),
});
writeLine(process.stdout, report.tables);
for (const problem of report.problems) writeLine(process.stderr, problem);
writeLine(process.stdout, report.problems.length === 0 ? 'All of it holds.' : `${report.problems.length} problems`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
