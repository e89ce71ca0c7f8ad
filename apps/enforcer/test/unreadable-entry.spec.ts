import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { createMetrics, renderMetrics } from '@tollkeeper/runtime';
import { testLogger } from '@tollkeeper/testing';
import type { Entry } from '../src/store/journal.store.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { post } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { createMemoryJournal, createMemorySnapshots, ALONE } from './memory.stores.ts';

const TENANT = provenTenantId('ws_unreadable');
const NOW = Date.parse('2026-11-24T12:00:00.000Z');
const DAY = Date.parse('2026-11-24T00:00:00.000Z');
const LIMIT = { scope: 'workspace' as const, scopeId: TENANT, limitMicros: 1_000_000 };

it('counts nothing of an entry that a replica cannot read, however often it tries, puts it in no snapshot, and warns', async () => {
  const journal = createMemoryJournal();
  const snapshots = createMemorySnapshots();
  let isReadable = false;
  const withheld = ({ ops, ...entry }: Entry): Entry => ({
    ...entry,
    ops: isReadable || entry.seq < 2 ? ops : [...ops, { op: 'of a newer version' } as never],
  });
  const metrics = createMetrics('enforcer');
  const ledger = createWorkspaceLedger(TENANT, {
    journal: {
      ...journal,
      async *readAfter(...args) {
        for await (const entry of journal.readAfter(...args)) yield withheld(entry);
      },
    },
    snapshots,
    timezoneOf: async () => 'UTC',
    ...ALONE,
    metrics: createLedgerMetrics(metrics),
    clock: () => NOW,
    logger: testLogger().logger,
  });
  const spend = { reservationId: null, agentId: 'a', planKey: null, at: NOW };
  await ledger.submit(post({ ...spend, settlementId: 's1', micros: 1 }, NOW));
  const posted = { op: 'post' as const, settlementId: 's2', micros: 100, day: DAY, agentId: 'a', planKey: null };
  await journal.append(TENANT, { seq: 2, at: NOW, ops: [posted] });

  const view = () => ledger.submit(viewLimits([LIMIT]));
  for (let attempt = 0; attempt < 3; attempt += 1) await expect(view()).rejects.toThrow('Entry 2 ');
  expect(await renderMetrics([metrics.registry])).toContain(
    'enforcer_unreadable_total{what="entry",service="enforcer"} 3',
  );
  await ledger.saveSnapshot();
  expect((await snapshots.load(TENANT)).ledger.readAccount(['workspace', DAY, ''])?.posted ?? 0).toBeLessThanOrEqual(1);

  isReadable = true;
  expect((await view()).items).toMatchObject([{ spentMicros: 101 }]);
});
