import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { testLogger } from '@tollkeeper/testing';
import { createThresholdTelemetry } from '../enforcer.telemetry.ts';
import { NO_BUDGETS } from '../../test/calls.ts';
import type { Posting } from './journal.ts';
import { createThresholdReporter } from './threshold.reporter.ts';

const WORKSPACES = Array.from({ length: 20 }, (_, i) => `ws_${i}` as TenantId);
const POSTING: Posting = { day: 0, agentId: 'planner', planKey: null };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('says once a minute that budgets is down, however many workspaces wait for it', async () => {
  const { logger, lines } = testLogger();
  let asked = 0;
  const reporter = createThresholdReporter({
    submit: () => Promise.reject(new Error('nothing is to be found without the limits')),
    append: () => Promise.reject(new Error('nothing is reported without the limits')),
    limits: {
      of() {
        asked += 1;
        return Promise.reject(new AppError('service_unavailable', 'Budgets is unavailable.'));
      },
    },
    budgets: NO_BUDGETS,
    clock: () => Date.now(),
    ...createThresholdTelemetry({ logger, now: () => performance.now() }),
  });
  await reporter.start();
  for (const tenantId of WORKSPACES) await reporter.report(tenantId, [POSTING]);
  await jest.advanceTimersByTimeAsync(119_000);
  await reporter.stop();

  expect(asked).toBeGreaterThan(WORKSPACES.length * 50);
  expect(lines().map(({ level, tenant_id }) => [level, tenant_id])).toEqual([
    ['warn', 'ws_0'],
    ['warn', expect.any(String)],
  ]);
});
