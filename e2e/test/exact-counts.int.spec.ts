import { describe } from '@jest/globals';
import { useStandalone } from '../src/standalone.stage.ts';
import { describeExactCounts } from '../src/suites/exact-counts.suite.ts';

describe('the standalone, with quotas that do not end before the calls', () => {
  const stage = useStandalone(() => ({
    LOG_LEVEL: 'warn',
    WORKSPACE_EVENTS_PER_SECOND: '1000000',
    WORKSPACE_BYTES_PER_SECOND: '1000000000',
  }));
  describeExactCounts(stage.deployment);
});
