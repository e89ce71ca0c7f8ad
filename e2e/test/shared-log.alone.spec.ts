import { describe } from '@jest/globals';
import { useFleet } from '../src/fleet.stage.ts';
import { describeOverload, UPSTREAM_TIMEOUT_MS } from '../src/suites/overload.suite.ts';
import { describePoison } from '../src/suites/poison.suite.ts';
import { describeReplicas } from '../src/suites/replicas.suite.ts';

describe('a fleet whose log holds rubbish, hangs, and is shared anew', () => {
  const stage = useFleet({
    env: {
      LOG_LEVEL: 'info',
      UPSTREAM_TIMEOUT_MS: String(UPSTREAM_TIMEOUT_MS),
      // All bytes belong to one workspace, and its quota is not under test.
      WORKSPACE_BYTES_PER_SECOND: '1000000000',
      WORKSPACE_BURST_BYTES: '1000000000',
    },
  });
  // Comes first, because it counts dead letters since the start of the fleet.
  describePoison(stage);
  describeOverload(stage);
  describeReplicas(stage);
});
