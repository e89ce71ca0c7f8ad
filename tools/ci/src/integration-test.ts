import { printReport } from './test-results.ts';
import { runIntegrationTests } from './test-run.ts';

const named = process.argv.slice(2);
const report = await runIntegrationTests(named.length === 0 ? undefined : named);
printReport(report);
process.exitCode = report.failures.length === 0 ? 0 : 1;
