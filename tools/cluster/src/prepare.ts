import { CONTROL_PLANE, findPrograms } from './programs.ts';

/** Builds what the suites need, or says what to install: for runs that shall not find out in the middle. */
try {
  await findPrograms(CONTROL_PLANE, (line) => console.error(line));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
