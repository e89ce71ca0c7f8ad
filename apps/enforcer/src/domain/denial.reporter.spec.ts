import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { UNKNOWN } from '../../test/calls.ts';
import { createDenialReporter } from './denial.reporter.ts';
import type { Denial } from './limit.ts';

const TENANT = provenTenantId('ws_1');
const request = { agentId: 'a', runId: 'r', planKey: null, amountMicros: 1, ttlSeconds: 600, ...UNKNOWN };
const denial: Denial = {
  ...{ scope: 'workspace', scopeId: 'ws_1', limitMicros: 0, period: { start: 0, end: 86_400_000 } },
  ...{ spentMicros: 0, heldMicros: 0, remainingMicros: 0, resetsAt: 86_400_000, state: 'exact' },
  ...{ requestedMicros: 1, message: 'no room' },
};

it('a workspace has at most 100 series of labels at a time: further denials count together, without labels', async () => {
  const reported: Record<string, unknown>[] = [];
  const reporter = createDenialReporter({
    append: async (_, events) =>
      void reported.push(...events.map(({ event }) => event.data as Record<string, unknown>)),
    clock: () => 1,
    onUnreported: () => undefined,
  });
  for (let nth = 0; nth < 150; nth += 1) {
    void reporter.report(TENANT, { ...request, requestId: `r-${nth}`, labels: { user: `u-${nth}` } }, denial);
  }
  await reporter.stop();
  expect(reported.filter((data) => 'labels' in data)).toHaveLength(100);
  expect(reported.filter((data) => !('labels' in data)).map((data) => data['count'])).toEqual([undefined, 49]);
});
