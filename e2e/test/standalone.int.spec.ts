import { describe } from '@jest/globals';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeTollkeeper } from '../src/suites/all.suites.ts';

describe('the standalone', () => {
  describeTollkeeper(useStandalone());
});
