import { describe, expect, it } from '@jest/globals';
import { useFleet } from '../src/fleet.stage.ts';
import { describeOneSender } from '../src/suites/one-sender.suite.ts';

const MIB = 1024 * 1024;
/** What V8 takes at most in the smallest pod, which is half of its memory; without such a bound it leaves garbage lying. */
const HEAP_MIB = 192;
/** What the manifests (k8s/base) give a pod of each service. */
const POD_BYTES = {
  ...{ gateway: 384 * MIB, keys: 384 * MIB, budgets: 384 * MIB, notifier: 384 * MIB },
  ...{ identity: 512 * MIB, dashboard: 512 * MIB, ingest: 640 * MIB, alerts: 768 * MIB },
};

describe('one sender against the others of a fleet', () => {
  const env = { LOG_LEVEL: 'info', NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
  const deaths: string[] = [];
  const stage = useFleet({ env, onUnexpectedExit: (_replica, reason) => void deaths.push(reason) });
  describeOneSender(stage, () => stage.deployment().processes(), POD_BYTES);

  it('no process has died of it', () => expect(deaths).toEqual([]));
});
