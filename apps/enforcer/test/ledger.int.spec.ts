import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type AppError, provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useBreakableMongo } from '@tollkeeper/testing';
import type { Ask, LongRead } from '../src/domain/decision.ts';
import { read } from '../src/domain/hold.ts';
import { reservationIdOf } from '../src/domain/journal.ts';
import type { Limit } from '../src/domain/limit.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { type GrantReader, listReservations } from '../src/domain/reservation.list.ts';
import { reserve } from '../src/domain/reserve.ts';
import { post } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger, type WorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { createJournalStore, type JournalStore } from '../src/store/journal.store.ts';
import { createSnapshotStore, type SnapshotStore } from '../src/store/snapshot.store.ts';
import { UNKNOWN } from './calls.ts';
import { ALONE } from './memory.stores.ts';

const mongo = useBreakableMongo();
const { logger, lines } = testLogger();
const metrics = createLedgerMetrics(createMetrics('ledger'));
const NOW = Date.parse('2026-06-01T12:00:00Z');
let real: ReturnType<typeof connectMongo>;
let journal: JournalStore;
let snapshots: SnapshotStore;
let readEntries = 0;
let savedSnapshots = 0;

beforeAll(async () => {
  real = connectMongo({ uri: mongo.uri, database: mongo.newDatabase(), logger });
  const store = createJournalStore(real.connection, { record: async () => undefined });
  journal = {
    ...store,
    async *readAfter(...args) {
      for await (const entry of store.readAfter(...args)) {
        readEntries += 1;
        yield entry;
      }
    },
  };
  const kept = createSnapshotStore(real.connection);
  snapshots = {
    ...kept,
    async save(...args) {
      savedSnapshots += 1;
      await kept.save(...args);
    },
  };
  await real.start();
});
afterAll(async () => {
  await real.stop();
  await mongo.stop();
});

function replica(tenantId: TenantId): WorkspaceLedger {
  const timezoneOf = async () => 'UTC';
  const deps = { journal, snapshots, timezoneOf, ...ALONE, metrics, clock: () => NOW, logger };
  return createWorkspaceLedger(tenantId, deps);
}
const limitOf = (scopeId: TenantId, limitMicros: number): Limit[] => [{ scope: 'workspace', scopeId, limitMicros }];
const asked = (requestId: string, amountMicros: number, limits: Limit[]) => {
  const request = { requestId, agentId: 'agent', runId: 'run', planKey: null, amountMicros, ttlSeconds: 600 };
  return reserve({ ...request, ...UNKNOWN, limits, dryRun: false });
};
const spend = (settlementId: string) => ({
  ...{ settlementId, reservationId: null, agentId: 'agent', planKey: null, micros: 1, at: NOW },
});
const accountOf = async (ledger: WorkspaceLedger, tenantId: TenantId) =>
  (await ledger.submit(viewLimits(limitOf(tenantId, 0)))).items[0]!;

it('lets two replicas fill a limit exactly, and gives a repeated request its reservation after a kill', async () => {
  const tenantId = provenTenantId('ws_full');
  const limits = limitOf(tenantId, 1_000);
  const replicas = [replica(tenantId), replica(tenantId)];
  let granted = 0;
  const first: string[] = [];
  const callers = replicas.flatMap((ledger, at) =>
    Array.from({ length: 8 }, (_, caller) => ({ ledger, id: `${at}-${caller}` })),
  );
  await Promise.all(
    callers.map(async ({ ledger, id }) => {
      for (let call = 0; ; call += 1) {
        const answer = await ledger.submit(asked(`${id}-${call}`, 7, limits));
        if (answer.decision === 'denied') return;
        granted += 7;
        first.push(`${id}-${call}`);
        const [{ spentMicros, heldMicros } = { spentMicros: NaN, heldMicros: NaN }] = answer.limits;
        expect(spentMicros + heldMicros).toBeLessThanOrEqual(1_000);
      }
    }),
  );
  expect(granted).toBe(994);
  const again = replica(tenantId);
  expect((await again.submit(asked('last', 6, limits))).decision).toBe('allowed');
  for (const requestId of first) {
    const { decision, ...rest } = await again.submit(asked(requestId, 7, limits));
    expect({ decision, ...rest }).toMatchObject({ reservation: { id: reservationIdOf(tenantId, requestId) } });
  }
  expect(await accountOf(again, tenantId)).toMatchObject({ heldMicros: 1_000, openReservations: 143 });
});

it('reads few entries of a long journal', async () => {
  const tenantId = provenTenantId('ws_long');
  const ledger = replica(tenantId);
  for (let call = 0; call < 2_000; call += 1) await ledger.submit(post(spend(`s-${call}`), NOW));
  await eventually(async () => expect((await snapshots.load(tenantId)).seq).toBeGreaterThan(1_700));
  readEntries = 0;
  expect(await accountOf(replica(tenantId), tenantId)).toMatchObject({ spentMicros: 2_000 });
  expect(readEntries).toBeLessThanOrEqual(300);
});

it('writes no snapshot of many holds until there are many ops behind the last one', async () => {
  const tenantId = provenTenantId('ws_open');
  const ledger = replica(tenantId);
  await Promise.all(Array.from({ length: 1_000 }, (_, call) => ledger.submit(asked(`r-${call}`, 7, []))));
  await ledger.saveSnapshot();
  savedSnapshots = 0;
  for (let call = 0; call < 490; call += 1) await ledger.submit(post(spend(`s-${call}`), NOW));
  expect(savedSnapshots).toBe(0);
  for (let call = 490; call < 520; call += 1) await ledger.submit(post(spend(`s-${call}`), NOW));
  expect(savedSnapshots).toBe(1);
});

it('ends a page of reservations in time, and continues behind it, in a journal full of other entries', async () => {
  const tenantId = provenTenantId('ws_crowded');
  const ledger = replica(tenantId);
  await ledger.submit(asked('r1', 7, []));
  const entries = Array.from({ length: 2_000 }, (_, index) => ({
    _id: `${tenantId}/${String(index + 2).padStart(12, '0')}`,
    at: new Date(NOW),
    keys: [Buffer.from(`entry-${index}`)],
    ops: [{ op: 'report', day: 0, scope: 'workspace', scopeId: '', percent: 50 }],
  }));
  const database = real.connection.getClient().db(real.connection.name);
  await database.collection<{ _id: string }>('journal').insertMany(entries);

  const grants: GrantReader = {
    async grantsBefore(...place) {
      await delay(50);
      return journal.grantsBefore(...place);
    },
  };
  const deps = {
    submit: <T>(_tenantId: TenantId, ask: Ask<T> | LongRead<T>) => ledger.submit(ask),
    grants,
    clock: () => NOW,
  };
  const found: string[] = [];
  let pages = 0;
  let cursor: string | undefined;
  do {
    pages += 1;
    const { items, nextCursor } = await listReservations(deps, tenantId, {}, { limit: 10, cursor });
    found.push(...items.map(({ requestId }) => requestId));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(found).toEqual(['r1']);
  expect(pages).toBeGreaterThan(2);
});

it('makes a ledger from the journal when its snapshot is not readable, and replaces the snapshot', async () => {
  const tenantId = provenTenantId('ws_unreadable');
  const limits = limitOf(tenantId, 1_000);
  const ledger = replica(tenantId);
  await ledger.submit(asked('r1', 7, limits));
  await ledger.saveSnapshot();
  const { seq } = await snapshots.load(tenantId);
  const stored = real.connection.getClient().db(real.connection.name).collection<{ _id: string }>('snapshots');
  await stored.updateOne({ _id: tenantId }, { $set: { content: Buffer.from('{') } });

  const after = replica(tenantId);
  expect(await accountOf(after, tenantId)).toMatchObject({ heldMicros: 7, openReservations: 1 });
  expect(lines()).toContainEqual(expect.objectContaining({ level: 'error', tenant_id: tenantId }));
  await after.submit(asked('r2', 3, limits));
  await after.saveSnapshot();
  expect(await snapshots.load(tenantId)).toMatchObject({ seq: seq + 1, ledger: { holdCount: 2 } });
});

it('continues behind an unreadable snapshot whose journal is gone', async () => {
  const tenantId = provenTenantId('ws_forgotten');
  const database = real.connection.getClient().db(real.connection.name);
  await database
    .collection<{ _id: string; seq: number; content: Buffer }>('snapshots')
    .insertOne({ _id: tenantId, seq: 500, content: Buffer.from('{') });
  const ledger = replica(tenantId);
  expect((await ledger.submit(asked('r1', 7, limitOf(tenantId, 10)))).decision).toBe('allowed');
  const replaced = { seq: 501, ledger: { holdCount: 1 } };
  await eventually(async () => expect(await snapshots.load(tenantId)).toMatchObject(replaced));
});

it('refuses what waits beyond 5,000, while other workspaces and the log continue', async () => {
  const tenantId = provenTenantId('ws_flood');
  const ledger = replica(tenantId);
  const limits = limitOf(tenantId, 1_000_000);
  const codes = Array.from({ length: 5_001 }, (_, call) =>
    ledger.submit(asked(`f-${call}`, 1, limits)).then(
      ({ decision }) => decision as string,
      ({ code }: AppError) => code,
    ),
  );
  const event = ledger.submit(post(spend('of-the-log'), NOW));
  const other = provenTenantId('ws_calm');
  expect((await replica(other).submit(asked('r', 1, limitOf(other, 5)))).decision).toBe('allowed');
  expect(await event).toMatchObject({ outcome: 'unreserved' });
  const answers = await Promise.all(codes);
  expect(answers.filter((code) => code === 'allowed')).toHaveLength(5_000);
  expect(answers[5_000]).toBe('service_unavailable');
});

describe('a mongod that dies', () => {
  afterEach(() => real.ping());

  it('keeps what was answered, and counts what was not at most once', async () => {
    const tenantId = provenTenantId('ws_killed');
    const limits = limitOf(tenantId, 1_000_000);
    const ledger = replica(tenantId);
    const answered: string[] = [];
    const all: string[] = [];
    let isOver = false;
    const callers = Array.from({ length: 4 }, async (_, caller) => {
      for (let call = 0; !isOver; call += 1) {
        const requestId = `${caller}-${call}`;
        all.push(requestId);
        const isAnswered = await ledger.submit(asked(requestId, 3, limits)).then(
          () => true,
          () => false,
        );
        if (isAnswered) answered.push(requestId);
        else return;
      }
    });
    await eventually(() => expect(answered.length).toBeGreaterThan(40));
    await mongo.kill();
    isOver = true;
    await Promise.all(callers);
    await mongo.restart();
    await eventually(() => real.ping());

    const after = replica(tenantId);
    for (const requestId of answered) {
      expect(await after.submit(read(reservationIdOf(tenantId, requestId)))).toMatchObject({ state: 'held' });
    }
    for (const one of [ledger, after]) for (const id of all) await one.submit(asked(id, 3, limits));
    for (const one of [ledger, after, replica(tenantId)]) {
      expect(await accountOf(one, tenantId)).toMatchObject({
        heldMicros: 3 * all.length,
        openReservations: all.length,
      });
    }
  });
});
