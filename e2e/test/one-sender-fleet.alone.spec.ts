import { describe, expect, it } from '@jest/globals';
import { SERVICES, TOPOLOGY } from '@tollkeeper/topology';
import { useFleet } from '../src/fleet.stage.ts';
import { describeOneSender } from '../src/suites/one-sender.suite.ts';

const MIB = 1024 * 1024;
const POD_BYTES = Object.fromEntries(SERVICES.map((service) => [service, TOPOLOGY[service].memoryMib * MIB]));

describe('one sender against the others of a fleet', () => {
  const deaths: object[] = [];
  const stage = useFleet({
    env: { LOG_LEVEL: 'info' },
    onUnexpectedExit: ({ name }, reason, lastLines) => void deaths.push({ name, reason, lastLines }),
  });
  describeOneSender(stage, () => stage.deployment().processes(), POD_BYTES);

  it('no process has died of it', () => expect(deaths).toEqual([]));
});
