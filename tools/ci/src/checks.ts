import { affectedSince } from './affected.ts';
import { type CommandResult, NX_ALONE, runCommand } from './command.ts';
import { createStageTimes } from './stage.times.ts';
import { addReports, printReport, type TestReport } from './test-results.ts';
import { type Part, prepareCluster, prepareKafka, runIntegrationTestsOf, runTestsOf } from './test-run.ts';

type Check = [name: string, run: () => Promise<CommandResult>];

/** For checks, whose output is shown at their end: no suite waits for them, so the suites come first. */
const CAPTURED = { output: 'capture', lowPriority: true } as const;
const CHECKS: Check[] = [
  ['lint', () => runCommand('npm', ['run', '--silent', 'lint'], CAPTURED)],
  ['types', () => runCommand('npm', ['run', '--silent', 'typecheck'], CAPTURED)],
  ['format', () => runCommand('prettier', ['--check', '.'], CAPTURED)],
  ['audit', audit],
];
/** Apart, since the fleets of the e2e suites start from what it leaves: nothing may build while one of them starts. */
const BUILD: Check[] = [['build', build]];

/** With a base (`NX_BASE`, a commit) the projects that the changes since then reach; without one all of them. */
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
  return runCommand('nx', ['run-many', '-t', 'build', ...chosen, '--output-style=static'], { env, output: 'capture' });
}

/** Known vulnerabilities of what ships. A registry that has no audit endpoint is said, not failed. */
async function audit(): Promise<CommandResult> {
  const result = await runCommand('npm', ['audit', '--omit=dev', '--audit-level=high'], CAPTURED);
  if (!/\bnpm (error|warn) audit\b|audit endpoint returned an error/.test(result.output)) return result;
  return { exitCode: 0, output: 'Not checked: this registry answers no audit requests.' };
}

/** Runs the checks one after another, and shows what each has said once it is through. */
async function runChecks(checks: Check[]): Promise<TestReport> {
  const report: TestReport = { passed: 0, failures: [] };
  for (const [name, run] of checks) {
    const { exitCode, output } = await run();
    console.log(`\n=== ${name}\n${output.trim()}`);
    if (exitCode !== 0) report.failures.push(`the check ${name}; its output above says why`);
  }
  return report;
}

/**
 * What the edge and the standalone cost after this change: to be read, never judged, since machines and their load
 * differ.
 */
async function reportCosts(): Promise<void> {
  if (projects?.includes('@tollkeeper/bench') === false) return;
  console.log('\n=== bench:gateway, a report and no check');
  const short = ['--rounds', '3', '--seconds', '1'];
  const { exitCode } = await runCommand('npm', ['run', '--silent', 'bench:gateway', '--', ...short]);
  if (exitCode !== 0) console.log('The benchmark failed; its output above says why. Nothing else depends on it.');
}

/**
 * Tests and checks in rows that go on side by side: most suites wait for processes more than they work. The row of e2e
 * lasts longest; the others fill the gaps that it leaves.
 */
async function runRows(): Promise<TestReport[]> {
  const kafka = times.time('Kafka', () => prepareKafka(projects));
  const built = times.time('build', () => runChecks(BUILD));
  const runTests = (part: Part) => times.time(`tests, ${part}`, () => runTestsOf(part, projects));
  const runIntegrationTests = async (part: Part): Promise<TestReport> => {
    const { failures } = await kafka;
    if (failures.length > 0) return { passed: 0, failures: [] };
    return times.time(`integration, ${part}`, () => runIntegrationTestsOf(part, projects));
  };
  const runE2e = async (): Promise<TestReport> => {
    await built;
    return addReports([await runTests('e2e'), await runIntegrationTests('e2e')]);
  };
  const [, ...reports] = await Promise.all([
    times.time('cluster', () => prepareCluster(projects)),
    ...[kafka, built, runE2e(), runTests('others'), runIntegrationTests('others')],
    times.time('checks', () => runChecks(CHECKS)),
  ]);
  return reports;
}

const times = createStageTimes();
const projects = await chooseProjects();
const report = addReports(await runRows());
await times.time('report', reportCosts);
console.log(`\n${times.table()}`);
printReport(report);
process.exitCode = report.failures.length === 0 ? 0 : 1;
