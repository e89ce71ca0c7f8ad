import { describe } from '@jest/globals';
import { useFleet } from '../src/fleet.stage.ts';
import { describeFaults } from '../src/suites/faults.suite.ts';
import { describeRollingRestart } from '../src/suites/rolling-restart.suite.ts';

describe('a fleet whose parts are restarted, asked to or killed', () => {
  const deaths: string[] = [];
  const stage = useFleet({
    mongoMembers: 3,
    env: { LOG_LEVEL: 'info', DRAIN_DELAY_MS: '1000' },
    onUnexpectedExit: (_replica, reason) => void deaths.push(reason),
  });
  describeRollingRestart(stage);
  describeFaults(stage, deaths);
});
