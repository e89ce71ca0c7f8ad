import { affectedSince } from './affected.ts';
import { type CommandResult, NX_ALONE, runCommand } from './command.ts';
import { createStageTimes } from './stage.times.ts';
import { printReport, type TestReport } from './test-results.ts';
import { runIntegrationTests, runTests } from './test-run.ts';

type Check = [name: string, run: () => Promise<CommandResult>];

const CAPTURED = { output: 'capture' } as const;
const CHECKS: Check[] = [
  ['lint', () => runCommand('npm', ['run', '--silent', 'lint'], CAPTURED)],
  ['types', () => runCommand('npm', ['run', '--silent', 'typecheck'], CAPTURED)],
  ['format', () => runCommand('prettier', ['--check', '.'], CAPTURED)],
  ['audit', audit],
  ['build', build],
];

/** With a base (`NX_BASE`, a commit) the projects affected since then; without one all of them. */
async function chooseProjects(): Promise<string[] | undefined> {
  const base = process.env.NX_BASE ?? '';
  if (base === '') return undefined;
  try {
    const projects = await affectedSince(base);
    console.log(`Affected since ${base}: ${projects.join(' ') || 'no project'}`);
    return projects;
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
}

async function build(): Promise<CommandResult> {
  if (projects?.length === 0) return { exitCode: 0, output: '' };
  const chosen = projects === undefined ? [] : [`--projects=${projects.join(',')}`];
  const env = { ...process.env, ...NX_ALONE };
  return runCommand('nx', ['run-many', '-t', 'build', ...chosen, '--output-style=static'], { env, ...CAPTURED });
}

/**
 * Checks shipped dependencies for known vulnerabilities. A registry without an audit endpoint is reported, not a
 * failure.
 */
async function audit(): Promise<CommandResult> {
  const result = await runCommand('npm', ['audit', '--omit=dev', '--audit-level=high'], CAPTURED);
  if (!/\bnpm (error|warn) audit\b|audit endpoint returned an error/.test(result.output)) return result;
  return { exitCode: 0, output: 'Not checked: this registry answers no audit requests.' };
}

/** Runs the checks side by side, and prints the output of each when it has finished. */
async function runChecks(checks: Check[]): Promise<TestReport> {
  const report: TestReport = { passed: 0, failures: [] };
  const runAndPrint = async ([name, run]: Check): Promise<void> => {
    const { exitCode, output } = await run();
    console.log(`\n=== ${name}\n${output.trim()}`);
    if (exitCode !== 0) report.failures.push(`the check ${name}; its output above says why`);
  };
  await Promise.all(checks.map(runAndPrint));
  return report;
}

/** The cost of the edge and the standalone after this change. It only informs, since machines and their load differ. */
async function reportCosts(): Promise<void> {
  if (projects?.includes('@tollkeeper/bench') === false) return;
  console.log('\n=== bench:gateway, a report and no check');
  const short = ['--rounds', '3', '--seconds', '1'];
  const { exitCode } = await runCommand('npm', ['run', '--silent', 'bench:gateway', '--', ...short]);
  if (exitCode !== 0) console.log('The benchmark failed; its output above says why. Nothing else depends on it.');
}

const times = createStageTimes();
const projects = await chooseProjects();
const tests = await times.time('tests', () => runTests(projects));
const checked = await times.time('checks', () => runChecks(CHECKS));
const integration = await times.time('integration', () => runIntegrationTests(projects));
await times.time('report', reportCosts);
const reports = [tests, checked, integration];
const report: TestReport = {
  passed: reports.reduce((sum, { passed }) => sum + passed, 0),
  failures: reports.flatMap(({ failures }) => failures),
};
console.log(`\n${times.table()}`);
printReport(report);
process.exitCode = report.failures.length === 0 ? 0 : 1;
