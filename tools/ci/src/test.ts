import { printReport } from './test-results.ts';
import { runTests } from './test-run.ts';

const report = await runTests();
printReport(report);
process.exitCode = report.failures.length === 0 ? 0 : 1;
