import { affectedSince } from './affected.ts';
import { runCommand, type CommandResult } from './command.ts';
import { printReport, type TestReport } from './test-results.ts';
import { runIntegrationTests, runTests } from './test-run.ts';

/** What `.ci/run` runs between the suites and those on Apache Kafka, each to its end. */
const CHECKS: { name: string; run: () => Promise<CommandResult> }[] = [
  { name: 'lint', run: () => runCommand('npm', ['run', '--silent', 'lint']) },
  { name: 'types', run: () => runCommand('npm', ['run', '--silent', 'typecheck']) },
  { name: 'build', run: build },
  { name: 'format', run: () => runCommand('prettier', ['--check', '.']) },
  { name: 'audit', run: audit },
];

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
  return runCommand('nx', ['run-many', '-t', 'build', ...chosen, '--output-style=static']);
}

/** Known vulnerabilities of what ships. A registry that has no audit endpoint is said, not failed. */
async function audit(): Promise<CommandResult> {
  const result = await runCommand('npm', ['audit', '--omit=dev', '--audit-level=high'], { output: 'capture' });
  if (/\bnpm (error|warn) audit\b|audit endpoint returned an error/.test(result.output)) {
    console.log('Not checked: this registry answers no audit requests.');
    return { exitCode: 0, output: '' };
  }
  console.log(result.output.trim());
  return result;
}

/** What the edge and the standalone cost after this change: to be read, never judged, since machines and their load differ. */
async function reportCosts(): Promise<void> {
  if (projects?.includes('@tollkeeper/bench') === false) return;
  console.log('\n=== bench:gateway, a report and no check');
  const short = ['--rounds', '5', '--seconds', '2'];
  const { exitCode } = await runCommand('npm', ['run', '--silent', 'bench:gateway', '--', ...short]);
  if (exitCode !== 0) console.log('The benchmark failed; its output above says why. Nothing else depends on it.');
}

const projects = await chooseProjects();
const standard = await runTests(projects);
const checks: TestReport = { passed: 0, failures: [] };
for (const { name, run } of CHECKS) {
  console.log(`\n=== ${name}`);
  const { exitCode } = await run();
  if (exitCode !== 0) checks.failures.push(`the check ${name}; its output above says why`);
}

console.log('\n=== integration');
const reports = [standard, checks, await runIntegrationTests(projects)];
await reportCosts();
const report: TestReport = {
  passed: reports.reduce((sum, { passed }) => sum + passed, 0),
  failures: reports.flatMap(({ failures }) => failures),
};
printReport(report);
process.exitCode = report.failures.length === 0 ? 0 : 1;
