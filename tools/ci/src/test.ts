import { runAllTests } from './test-run.ts';

const { passed, failed } = await runAllTests();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
