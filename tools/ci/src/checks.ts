import { runCommand, type CommandResult } from './command.ts';
import { runAllTests } from './test-run.ts';

/** What `.ci/run` runs once the packages are there: the suites, then every other check, each to its end. */
const CHECKS: { name: string; run: () => Promise<CommandResult> }[] = [
  { name: 'lint', run: () => runCommand('npm', ['run', '--silent', 'lint']) },
  { name: 'types', run: () => runCommand('npm', ['run', '--silent', 'typecheck']) },
  { name: 'build', run: () => runCommand('nx', ['run-many', '-t', 'build', '--output-style=static']) },
  { name: 'format', run: () => runCommand('prettier', ['--check', '.']) },
  { name: 'audit', run: audit },
];

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

const { passed, failed } = await runAllTests();
const failedChecks: string[] = [];
for (const { name, run } of CHECKS) {
  console.log(`\n=== ${name}`);
  const { exitCode } = await run();
  if (exitCode !== 0) failedChecks.push(name);
}

console.log(failedChecks.length === 0 ? '\nAll checks passed.' : `\nFailed checks: ${failedChecks.join(', ')}.`);
console.log(`${passed} passed, ${failed + failedChecks.length} failed`);
process.exitCode = failed + failedChecks.length === 0 ? 0 : 1;
