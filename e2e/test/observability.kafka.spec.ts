import { describe } from '@jest/globals';
import { deployFleet } from '../src/fleet.stage.ts';
import { describeObservability } from '../src/suites/observability.suite.ts';

describe('a fleet that is observed', () => {
  describeObservability(async ({ dataDirectory, env }) => {
    const { fleet, ...deployment } = await deployFleet({ dataDirectory, allowCidrs: '127.0.0.0/8', env });
    const replicas = Object.values(fleet.services).flat();
    return {
      ...deployment,
      metricsUrls: replicas.map(({ opsUrl }) => `${opsUrl}/metrics`),
      stop: () => fleet.stop(),
    };
  });
});
