import { describe } from '@jest/globals';
import { useFleet } from '../src/fleet.stage.ts';
import { describeOneSender } from '../src/suites/one-sender.suite.ts';

describe('one sender against the others of a fleet', () => {
  const stage = useFleet({ env: { LOG_LEVEL: 'info' } });
  describeOneSender(stage, () => {
    const services = stage.deployment().processes();
    return { all: services, limited: services.map(({ name }) => name) };
  });
});
