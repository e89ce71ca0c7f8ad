import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';

/** A mutant that leaves a promise open is found by its test's timeout, which is as short as a busy machine allows. */
const TEST_TIMEOUT_MS = 5_000;
/** Time for a suite to end after a failed test. */
const END_TIMEOUT_MS = 1_000;

/** The mutant that a test has found. The suites of a run follow one another and share it. */
let found: string | undefined;

/** Ends the run of a mutant at the first failing test of all its suites, because one failure is enough. */
export default class FailFastEnvironment extends TestEnvironment {
  handleTestEvent(event: Circus.AsyncEvent | Circus.SyncEvent, state: Circus.State): void {
    const mutant = process.env['__STRYKER_ACTIVE_MUTANT__'];
    if (mutant === undefined) return;
    if (event.name === 'run_start') {
      state.testTimeout = TEST_TIMEOUT_MS;
      if (found === mutant) state.rootDescribeBlock.mode = 'skip';
    } else if (event.name === 'test_start' && found === mutant) {
      event.test.mode = 'skip';
    } else if (event.name === 'test_fn_failure' || event.name === 'hook_failure') {
      found = mutant;
      state.testTimeout = END_TIMEOUT_MS;
    } else if (event.name === 'run_finish') {
      // Jest reports a failed `afterAll` separately from its tests, where Stryker would not count it as a failure.
      const ran = testsOf(state.rootDescribeBlock).find(({ status }) => status === 'done');
      ran?.errors.push(...state.unhandledErrors.splice(0));
    }
  }
}

function testsOf({ children }: Circus.DescribeBlock): Circus.TestEntry[] {
  return children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child)));
}
