import { CONTROL_PLANE, findPrograms } from './programs.ts';

/** Builds what the suites need, or says what to install, so that runs do not fail halfway. */
try {
  await findPrograms(CONTROL_PLANE, (line) => console.error(line));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
