import { beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { useMongo } from '@tollkeeper/testing';
import { BUDGET_BLOCKED, eventKey, type DashboardEvent } from '../src/domain/event.ts';
import { createEventStore } from '../src/store/event.store.ts';
import { documentsRead } from './documents-read.ts';

const mongo = useMongo();
const events = createEventStore(mongo.connection, 2_000_000_000);
const tenantId = provenTenantId('ws_1');

/** Oldest first, two of each time. */
const blocked: DashboardEvent[] = Array.from({ length: 600 }, (_, index) => ({
  tenantId,
  source: 'gw',
  eventId: `e${String(index).padStart(4, '0')}`,
  type: BUDGET_BLOCKED,
  time: 1_000_000 + Math.floor(index / 2),
  data: { agent_id: 'planner', run_id: 'run-1' },
}));
const all = { start: 0, end: 2_000_000 };

beforeAll(async () => {
  await ensureIndexes(Object.values(mongo.connection.models));
  await events.insert(undefined, blocked);
});

describe('the list of blocked events', () => {
  it('reads a page deep in it at the cost of the page', async () => {
    const after = blocked[101]!;
    const cursor = { time: after.time, key: eventKey(after) };

    const read = await documentsRead(mongo.connection, async () => {
      const page = await events.listBlocked(tenantId, BUDGET_BLOCKED, 'workspace', all, 10, cursor);
      expect(page).toEqual(blocked.slice(91, 101).toReversed());
    });

    expect(read).toBeLessThanOrEqual(12);
  });

  it('reads a page of one agent at the cost of the page, among many calls of others', async () => {
    const other = blocked[150]!;
    const lone = { ...other, eventId: 'of-another-agent', data: { ...other.data, agent_id: 'lone' } };
    await events.insert(undefined, [lone]);

    const read = await documentsRead(mongo.connection, async () => {
      expect(await events.listBlocked(tenantId, BUDGET_BLOCKED, { agentId: 'lone' }, all, 10)).toEqual([lone]);
    });

    expect(read).toBeLessThanOrEqual(2);
  });
});
