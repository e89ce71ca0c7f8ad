import { describe, expect, it } from '@jest/globals';
import { SERVICES, TOPOLOGY } from '@tollkeeper/topology';
import { useFleet } from '../src/fleet.stage.ts';
import { describeOneSender } from '../src/suites/one-sender.suite.ts';

const MIB = 1024 * 1024;
/**
 * What V8 takes at most in the smallest pod, which is half of its memory; without such a bound it leaves garbage lying.
 */
const HEAP_MIB = 192;
const POD_BYTES = Object.fromEntries(SERVICES.map((service) => [service, TOPOLOGY[service].memoryMib * MIB]));

describe('one sender against the others of a fleet', () => {
  const env = { LOG_LEVEL: 'info', NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
  const deaths: string[] = [];
  const stage = useFleet({ env, onUnexpectedExit: (_replica, reason) => void deaths.push(reason) });
  describeOneSender(stage, () => stage.deployment().processes(), POD_BYTES);

  it('no process has died of it', () => expect(deaths).toEqual([]));
});
