// `npm run faults:enforcer -- 1000000 12`: number of calls and kills. Of three kills, two hit a replica of the
// enforcer, and one the primary of its MongoDB. With `--leases`, sixteen gateway processes make the calls, half of them
// from leases, and a third of the kills each hits gateways, replicas and the primary. Prints the tables of
// docs/faults.md.
import { parseArgs } from 'node:util';
import { runLeaseFaults } from './fault.leases.run.ts';
import { runFaults } from './fault.run.ts';
import { startStage } from './fault.stage.ts';

const writeLine = (to: NodeJS.WriteStream, line: string) => void to.write(`${line}\n`);
const { values, positionals } = parseArgs({ options: { leases: { type: 'boolean' } }, allowPositionals: true });
const [calls = 100_000, kills = 6] = positionals.map(Number);
if (!Number.isSafeInteger(calls) || calls < 1000 || !Number.isSafeInteger(kills) || kills < 0) {
  writeLine(
    process.stderr,
    'Say how many calls to make, 1000 at least, and kills: npm run faults:enforcer -- 100000 12 [--leases]',
  );
  process.exit(2);
}
/** So that gateways find room between denials. */
const CALLS_OF_RAISE = 20_000;
const third = Math.floor(kills / 3);
const common = { calls, seed: Date.now(), onProgress: (line: string) => writeLine(process.stderr, line) };
const stage = await startStage('kafka');
try {
  const report = values.leases
    ? await runLeaseFaults(stage, {
        ...{ ...common, gateways: 16, ttlSeconds: 60, raises: Math.max(4, calls / CALLS_OF_RAISE) },
        kills: { gateway: kills - 2 * third, replica: third, primary: third },
      })
    : await runFaults(stage, { ...common, kills: { replica: kills - third, primary: third } });
  writeLine(process.stdout, report.tables);
  for (const problem of report.problems) writeLine(process.stderr, problem);
  writeLine(process.stdout, report.problems.length === 0 ? 'All of it holds.' : `${report.problems.length} problems`);
  process.exitCode = report.problems.length === 0 ? 0 : 1;
} finally {
  await stage.stop();
}
