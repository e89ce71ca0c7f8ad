// `npm run faults:enforcer -- 1000000`: kills replicas of the enforcer and the primary of its MongoDB under calls, and
// prints the tables of docs/faults.md.
import { runFaults } from './fault.run.ts';

const writeLine = (to: NodeJS.WriteStream, line: string) => void to.write(`${line}\n`);
const calls = Number(process.argv[2] ?? 100_000);
if (!Number.isSafeInteger(calls) || calls < 1000) {
  writeLine(process.stderr, 'Say how many calls to make, 1000 at least: npm run faults:enforcer -- 100000');
  process.exit(2);
}
const report = await runFaults({
  calls,
  kills: { replica: 3, primary: 1 },
  seed: Date.now(),
  onProgress: (line) => writeLine(process.stderr, line),
});
writeLine(process.stdout, report.tables);
for (const problem of report.problems) writeLine(process.stderr, problem);
writeLine(process.stdout, report.problems.length === 0 ? 'All of it holds.' : `${report.problems.length} problems`);
process.exitCode = report.problems.length === 0 ? 0 : 1;
