import type { Circus } from '@jest/types';
import { TestEnvironment } from 'jest-environment-node';

/** A mutant that leaves a promise open is found by its test's timeout: as short as a busy machine allows. */
const TEST_TIMEOUT_MS = 5_000;
/** What a suite whose test has failed has for its end. */
const END_TIMEOUT_MS = 1_000;

/** The mutant that a test has found; the suites of a run come one after the other and share it. */
let found: string | undefined;

/**
 * Lets the run of a mutant end with the first test that fails, over all of its suites: it needs to be found only once.
 */
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
      // Jest has the failure of an `afterAll` apart from its tests, where Stryker would not take it for one.
      const ran = testsOf(state.rootDescribeBlock).find(({ status }) => status === 'done');
      ran?.errors.push(...state.unhandledErrors.splice(0));
    }
  }
}

function testsOf({ children }: Circus.DescribeBlock): Circus.TestEntry[] {
  return children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child)));
}
