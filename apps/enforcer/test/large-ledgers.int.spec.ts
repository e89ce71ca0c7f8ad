import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { eventually, testLogger, useMongo } from '@tollkeeper/testing';
import type { Limit } from '../src/domain/limit.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { reserve } from '../src/domain/reserve.ts';
import { post } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createLedgers } from '../src/ledger/ledgers.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { createJournalStore } from '../src/store/journal.store.ts';
import { createSnapshotStore, PART_ITEMS } from '../src/store/snapshot.store.ts';
import { UNKNOWN } from './calls.ts';
import { largeLedger } from './large.ledgers.ts';
import { ALONE } from './memory.stores.ts';

const mongo = useMongo();
const { logger } = testLogger();
const database = mongo.newDatabase();
const real = connectMongo({ uri: mongo.uri, database, logger });
const journal = createJournalStore(real.connection, { record: async () => undefined });
const snapshots = createSnapshotStore(real.connection);
const NOW = Date.now();
const stops: (() => unknown)[] = [];
const inProcess = promisify(execFile);

beforeAll(() => real.start());
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(() => real.stop());

const common = { journal, timezoneOf: async () => 'UTC', clock: () => NOW, logger };
const partsOf = (tenantId: TenantId) =>
  real.connection
    .getClient()
    .db(database)
    .collection<{ _id: string; content: { buffer: Uint8Array } }>('snapshot_parts')
    .find({ _id: { $gt: `${tenantId}/`, $lt: `${tenantId}0` } })
    .toArray();

/** Sums up counts between two turns of the event loop, and keeps the largest sum. */
function countByTurn() {
  const count = { inTurn: 0, most: 0, all: 0, add };
  function add(many: number): void {
    count.inTurn += many;
    count.all += many;
    count.most = Math.max(count.most, count.inTurn);
  }
  const next = () => {
    count.inTurn = 0;
    immediate = setImmediate(next);
  };
  let immediate = setImmediate(next);
  stops.push(() => clearImmediate(immediate));
  return count;
}

it('others have their turns while a ledger of tens of thousands of accounts is written, and while it is read', async () => {
  const tenantId = provenTenantId('ws_turns');
  const ledger = largeLedger(NOW, { days: 1, agents: 20_000, holds: 5_000 });
  const { stringify, parse } = JSON;
  const written = countByTurn();
  const writing = jest.spyOn(JSON, 'stringify').mockImplementation((value: unknown) => {
    const text = stringify(value);
    written.add(text.length);
    return text;
  });
  await snapshots.save(tenantId, { seq: 1, ledger });
  writing.mockRestore();
  const read = countByTurn();
  const reading = jest.spyOn(JSON, 'parse').mockImplementation((text) => {
    read.add(text.length);
    return parse(text);
  });
  const loaded = await snapshots.load(tenantId);
  reading.mockRestore();

  expect(loaded.ledger.accountTotal).toBe(40_001);
  expect(loaded.ledger.holdCount).toBe(5_000);
  expect(loaded.ledger.bytes).toBe(ledger.bytes);
  for (const { most, all } of [written, read]) {
    expect(all).toBeGreaterThan(4_000_000);
    expect(most).toBeLessThan(all / 10);
  }
  for (const { content } of await partsOf(tenantId)) {
    const part = parse(gunzipSync(content.buffer).toString()) as { accounts: unknown[]; holds: unknown[] };
    expect(part.accounts.length + part.holds.length).toBeLessThanOrEqual(PART_ITEMS);
  }
});

it('others have their turns while a long journal is read', async () => {
  const tenantId = provenTenantId('ws_fold');
  const day = Math.floor(NOW / 86_400_000) * 86_400_000;
  await journal.append(tenantId, {
    seq: 1,
    at: NOW,
    ops: [{ op: 'day', start: day, end: day + 86_400_000, timezone: 'UTC' }],
  });
  const [entries, ops] = [100, 500];
  for (let entry = 0; entry < entries; entry += 1) {
    const spends = Array.from({ length: ops }, (_, index) => ({
      ...{ op: 'post' as const, settlementId: `s-${entry}-${index}`, day, micros: 1 },
      ...{ agentId: `agent-${(entry % 30) * ops + index}`, planKey: `plan-${(entry % 30) * ops + index}` },
    }));
    await journal.append(tenantId, { seq: 2 + entry, at: NOW, ops: spends });
  }
  const read = countByTurn();
  const ledger = createWorkspaceLedger(tenantId, {
    ...{ ...common, snapshots, ...ALONE, metrics: createLedgerMetrics(createMetrics('fold')) },
    journal: {
      ...journal,
      async *readAfter(...args) {
        for await (const entry of journal.readAfter(...args)) {
          read.add(1);
          yield entry;
        }
      },
    },
  });
  const { items } = await ledger.submit(viewLimits([{ scope: 'workspace', scopeId: tenantId, limitMicros: 0 }]));
  expect(items[0]!.spentMicros).toBe(entries * ops);
  expect(read.all).toBe(entries + 1);
  expect(read.most).toBeLessThan(entries / 2);
});

it('a snapshot that was cut short is no snapshot: the former one counts, and the next one removes what it left', async () => {
  const tenantId = provenTenantId('ws_cut');
  const ledger = largeLedger(NOW, { days: 1, agents: 2_000 });
  await snapshots.save(tenantId, { seq: 1, ledger });
  const former = await partsOf(tenantId);
  const cut = largeLedger(NOW, { days: 2, agents: 2_000 });
  const { freeze } = cut;
  cut.freeze = () => {
    const frozen = freeze();
    return {
      ...frozen,
      *accounts() {
        let left = 3_500;
        for (const account of frozen.accounts()) {
          if (left === 0) throw new Error('killed');
          left -= 1;
          yield account;
        }
      },
    };
  };
  await expect(snapshots.save(tenantId, { seq: 2, ledger: cut })).rejects.toThrow('killed');
  expect((await partsOf(tenantId)).length).toBeGreaterThan(former.length);
  const before = await snapshots.load(tenantId);
  expect([before.seq, before.unreadable, before.ledger.accountTotal]).toEqual([1, undefined, 4_001]);

  await snapshots.save(tenantId, { seq: 3, ledger: largeLedger(NOW, { days: 1, agents: 1_000 }) });
  const after = await snapshots.load(tenantId);
  expect([after.seq, after.unreadable, after.ledger.accountTotal]).toEqual([3, undefined, 2_001]);
  expect(await partsOf(tenantId)).toHaveLength(2);
});

it('a snapshot is read whole while other replicas replace it', async () => {
  const tenantId = provenTenantId('ws_replaced');
  const ledger = largeLedger(NOW, { days: 1, agents: 2_000 });
  await snapshots.save(tenantId, { seq: 1, ledger });
  let isOver = false;
  const writers = [2, 3].map(async (first) => {
    for (let seq = first; seq < 24; seq += 2) {
      const more = largeLedger(NOW, { days: 1, agents: 2_000 });
      await snapshots.save(tenantId, { seq, ledger: more });
    }
    isOver = true;
  });
  let last = 0;
  while (!isOver) {
    const { seq, ledger: loaded, unreadable } = await snapshots.load(tenantId);
    expect([unreadable, loaded.accountTotal]).toEqual([undefined, 4_001]);
    expect(seq).toBeGreaterThanOrEqual(last);
    last = seq;
  }
  await Promise.all(writers);
  expect((await snapshots.load(tenantId)).seq).toBe(23);
  expect(await partsOf(tenantId)).toHaveLength(4);
});

it('ledgers stay within their budget, and each workspace decides right after its ledger was released', async () => {
  const metrics = createMetrics('budget');
  const budgetBytes = 2_000_000;
  const ledgers = createLedgers({ ...common, snapshots, budgetBytes, metrics, ...ALONE });
  const held = async () => (await metrics.registry.getSingleMetric('enforcer_ledger_bytes')!.get()).values[0]!.value;
  const tenants = Array.from({ length: 8 }, (_, index) => provenTenantId(`ws_budget_${index}`));
  const limitsOf = (scopeId: TenantId): Limit[] => [{ scope: 'workspace', scopeId, limitMicros: 1_000 + 3 }];
  const ask = (tenantId: TenantId, requestId: string) => {
    const call = { agentId: 'agent', runId: 'run', planKey: null, amountMicros: 1, ttlSeconds: 600 };
    const request = { ...call, requestId, ...UNKNOWN, limits: limitsOf(tenantId), dryRun: false };
    return ledgers.submit(tenantId, reserve(request)).then(({ decision }) => decision);
  };

  for (let round = 0; round < 2; round += 1) {
    await Promise.all(
      tenants.flatMap((tenantId) =>
        Array.from({ length: 500 }, (_, index) => {
          const name = `${round}-${index}`;
          const spend = { settlementId: name, reservationId: null, agentId: `a-${name}`, planKey: `p-${name}` };
          return ledgers.submit(tenantId, post({ ...spend, micros: 1, at: NOW }, NOW));
        }),
      ),
    );
  }
  await eventually(async () => expect(await held()).toBeLessThanOrEqual(budgetBytes));
  for (let call = 0; call < 4; call += 1) {
    const decisions: string[] = [];
    for (const tenantId of tenants) decisions.push(await ask(tenantId, `r-${call}`));
    expect(decisions).toEqual(tenants.map(() => (call < 3 ? 'allowed' : 'denied')));
    await eventually(async () => expect(await held()).toBeLessThanOrEqual(budgetBytes));
  }
  const all = await Promise.all(tenants.map((tenantId) => ledgers.submit(tenantId, viewLimits(limitsOf(tenantId)))));
  for (const { items } of all) expect(items).toMatchObject([{ spentMicros: 1_000, heldMicros: 3 }]);
  await ledgers.stop();
});

it('says about what a ledger takes of the heap', async () => {
  const main = join(import.meta.dirname, 'ledger-bytes.main.ts');
  const { stdout } = await inProcess(process.execPath, ['--conditions=@tollkeeper/source', '--expose-gc', main]);
  for (const part of JSON.parse(stdout) as number[]) {
    expect(part).toBeGreaterThan(0.5);
    expect(part).toBeLessThan(1.5);
  }
});

it('eight workspaces with all the accounts that they may have do not end a process with the heap of its pod', async () => {
  const podDatabase = mongo.newDatabase();
  const pod = connectMongo({ uri: mongo.uri, database: podDatabase, logger });
  const store = createSnapshotStore(pod.connection);
  await pod.start();
  stops.push(() => pod.stop());
  const names = Array.from({ length: 8 }, (_, index) => `ws_pod_${index}`);
  for (const [index, name] of names.entries()) {
    const ledger = largeLedger(NOW, { days: 4, agents: 20_000, holds: 20_000 });
    await store.save(provenTenantId(name), { seq: 1 + index, ledger });
  }
  const main = join(import.meta.dirname, 'pod-memory.main.ts');
  // The heap of a pod with 768 MiB.
  const heap = '--max-old-space-size=384';
  const args = ['--conditions=@tollkeeper/source', heap, main, mongo.uri, podDatabase, ...names];
  const { stdout } = await inProcess(process.execPath, args);
  expect(JSON.parse(stdout)).toEqual(names.map(() => 'allowed'));
});
