import { describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { SPEND_REPRICED, SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { runKey, runStarts } from './run.ts';

const tenantId = provenTenantId('ws_1');
const otherTenant = provenTenantId('ws_2');

function event(run: string | undefined, time: number, tenant = tenantId): DashboardEvent {
  const data = run === undefined ? {} : { run_id: run };
  return { tenantId: tenant, source: 'gw', eventId: `e${time}`, type: SPEND_SETTLED, time, data };
}

describe('the starts of runs', () => {
  it('are the first event of each run of each workspace, in whatever order the events come', () => {
    const events = [event('r1', 5), event('r1', 3), event('r1', 4), event('r2', 9), event('r1', 7, otherTenant)];
    expect(runStarts(events, new Map())).toEqual([
      { tenantId, runId: 'r1', from: undefined, to: 3 },
      { tenantId, runId: 'r2', from: undefined, to: 9 },
      { tenantId: otherTenant, runId: 'r1', from: undefined, to: 7 },
    ]);
  });

  it('are none of corrections, whose settlements were counted before', () => {
    const correction = { ...event('r1', 3), type: SPEND_REPRICED };
    expect(runStarts([correction], new Map())).toEqual([]);
    expect(runStarts([correction, event('r1', 4)], new Map())).toEqual([
      { tenantId, runId: 'r1', from: undefined, to: 4 },
    ]);
  });

  it('move from where they were known to lie, and only back', () => {
    const known = new Map(['r1', 'r2', 'r3'].map((run) => [runKey(tenantId, run), 5]));
    const events = [event('r1', 4), event('r1', 3), event('r2', 5), event('r3', 6), event('r1', 5, otherTenant)];
    expect(runStarts(events, known)).toEqual([
      { tenantId, runId: 'r1', from: 5, to: 3 },
      { tenantId: otherTenant, runId: 'r1', from: undefined, to: 5 },
    ]);
  });

  it('are none of events that name no run', () => {
    expect(runStarts([event(undefined, 5)], new Map())).toEqual([]);
  });
});
