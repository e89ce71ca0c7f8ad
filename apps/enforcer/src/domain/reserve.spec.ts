import { expect, it } from '@jest/globals';
import { provenTenantId } from '@tollkeeper/kernel';
import { UNKNOWN } from '../../test/calls.ts';
import { UsedUpError } from './grant.ts';
import { reservationIdOf } from './journal.ts';
import { applyOp } from './ledger.ts';
import { createDraft, createLedger } from './ledger.state.ts';
import { reserve } from './reserve.ts';
import { settle } from './settle.ts';

const NOW = Date.parse('2026-11-21T18:00:00.000Z');
const DAY = { op: 'day', start: Date.parse('2026-11-21'), end: Date.parse('2026-11-22'), timezone: 'UTC' } as const;
const context = {
  tenantId: provenTenantId('ws_1'),
  now: NOW,
  seq: 1,
  isNewest: true,
  find: () => null,
  seqOf: () => undefined,
};
const labels = Object.fromEntries(Array.from({ length: 10 }, (_, nth) => [`label_${nth}`, 'x'.repeat(128)]));

it('reservations with many long labels are refused beyond 48 MiB, until one ends', () => {
  const ledger = createLedger();
  applyOp(ledger, DAY);
  const call = { agentId: 'a', runId: 'r', planKey: null, amountMicros: 1, ttlSeconds: 600, limits: [], dryRun: false };
  const ask = (requestId: string, on = ledger as Parameters<ReturnType<typeof reserve>['decide']>[0]) =>
    reserve({ ...call, ...UNKNOWN, requestId, labels }).decide(on, context);
  let granted = 0;
  while (ledger.holdBytes < 48 * 1024 * 1024) {
    expect('ops' in ask(`r-${granted}`)).toBe(true);
    granted += 1;
  }
  expect(granted).toBeGreaterThan(10_000);
  expect(granted).toBeLessThan(20_000);
  const refused = { refusal: expect.any(UsedUpError) };
  expect([ask('one more'), ask('one more', createDraft(ledger))]).toEqual([refused, refused]);
  const [hold] = ledger.holds();
  applyOp(ledger, { op: 'release', id: hold!.id, expiresAt: hold!.expiresAt });
  expect('ops' in ask('one more')).toBe(true);
});

it('a grant of release 0.1.0 is found by its request again, and its spend is posted without labels', () => {
  const ledger = createLedger();
  applyOp(ledger, DAY);
  const call = { requestId: 'r-1', agentId: 'a', runId: 'r', planKey: null, amountMicros: 5, ttlSeconds: 600 };
  const id = reservationIdOf(context.tenantId, 'r-1');
  applyOp(ledger, { op: 'grant', id, ...call, day: DAY.start, createdAt: NOW, expiresAt: NOW + 600_000 });
  const again = { ...call, ...UNKNOWN, model: 'large-1', labels: { team: 'growth' }, limits: [], dryRun: false };
  const held = { id, model: null, provider: null, keyId: null, labels: {}, state: 'held' };
  expect(reserve(again).decide(ledger, context)).toMatchObject({ ops: [], answer: { reservation: held } });
  expect(settle(id, { settlementId: 's-1', amountMicros: 3 }).decide(ledger, context)).toMatchObject({
    answer: { ...held, state: 'settled', settledMicros: 3 },
  });
});
