import { describe } from '@jest/globals';
import { useFleet } from '../src/fleet.stage.ts';
import { describeTollkeeper } from '../src/suites/all.suites.ts';

describe('the fleet', () => {
  describeTollkeeper(useFleet());
});
