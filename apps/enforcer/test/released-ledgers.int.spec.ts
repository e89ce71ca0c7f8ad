import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { connectMongo } from '@tollkeeper/mongo';
import { createMetrics } from '@tollkeeper/runtime';
import { testLogger, useMongo } from '@tollkeeper/testing';
import { mongo as driver } from 'mongoose';
import { createActiveBudgets } from '../src/domain/active.budgets.ts';
import { read } from '../src/domain/hold.ts';
import type { Op } from '../src/domain/journal.ts';
import { applyOp } from '../src/domain/ledger.ts';
import { createLedger, type LedgerState } from '../src/domain/ledger.state.ts';
import { viewLimits } from '../src/domain/limit.view.ts';
import { reserve } from '../src/domain/reserve.ts';
import { settle } from '../src/domain/settle.ts';
import { createLedgerMetrics } from '../src/ledger/ledger.metrics.ts';
import { createWorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { createJournalStore } from '../src/store/journal.store.ts';
import { createSnapshotStore } from '../src/store/snapshot.store.ts';
import { UNKNOWN } from './calls.ts';
import { ALONE } from './memory.stores.ts';
import { readReleasedJournal, readReleasedSnapshot, type ReleasedLedger } from './released.reader.ts';

const stack = useMongo();
const { logger } = testLogger();
const real = connectMongo({ uri: stack.uri, database: stack.newDatabase(), logger });
const journal = createJournalStore(real.connection, { record: async () => undefined });
const snapshots = createSnapshotStore(real.connection);

type Stored = { _id: string; at: Date; ops: { op: string }[]; content: { buffer: Uint8Array } };
type Collection = 'journal' | 'snapshots' | 'snapshot_parts';

/** The collections of release 0.1.0 after calls of every kind over days of 24 and 23 hours, and its answers. */
interface Recorded extends Record<Collection, Stored[]> {
  answers: Record<
    string,
    {
      now: number;
      /** Those of daily budgets, but not the 1,050 agents with a micro each of the workspace `ws_parts`. */
      accounts: [day: number, name: { scope: string; scopeId: string }, account: object][];
      accountTotal: number;
      days: object[];
      items: { scope: 'workspace' | 'agent' | 'plan'; scopeId: string; dailyBudgetMicros: number }[];
      reservations: { id: string }[];
    }
  >;
}

const text = await readFile(join(import.meta.dirname, 'released', 'ledgers-0.1.0.json'), 'utf8');
const recorded = driver.BSON.EJSON.parse(text) as Recorded;
const collection = (name: Collection) => real.connection.collection<Stored>(name);

beforeAll(async () => {
  await real.start();
  for (const name of ['journal', 'snapshots', 'snapshot_parts'] as const) {
    // MongoDB removes old entries by its own clock.
    await collection(name).insertMany(recorded[name].map((document) => ({ ...document, at: new Date() })));
  }
});
afterAll(() => real.stop());

function replica(tenantId: TenantId, now: number) {
  const metrics = createLedgerMetrics(createMetrics('released'));
  const timezoneOf = async () => 'Europe/Paris';
  const deps = { journal, snapshots, timezoneOf, ...ALONE, metrics, clock: () => now, logger };
  return createWorkspaceLedger(tenantId, deps);
}

async function ledgerOf(tenantId: TenantId): Promise<LedgerState> {
  const { seq, ledger } = await snapshots.load(tenantId);
  for await (const entry of journal.readAfter(tenantId, seq)) for (const op of entry.ops) applyOp(ledger, op);
  return ledger;
}

/** The accounts of daily budgets by `day/scope/scopeId`. */
function dailyAccounts(ledger: LedgerState) {
  const frozen = ledger.freeze();
  // Release 0.1.0 has no leases.
  const accounts = new Map(
    [...frozen.accounts()].map(([[meter, start, value], { leases: _, ...each }]) => [
      `${start}/${meter}/${value}`,
      each,
    ]),
  );
  frozen.thaw();
  return accounts;
}

const MONTH = {
  ...{ id: 'bud_month', name: 'Month', meter: 'bud_month.1', selector: {}, each: null, overrides: null },
  ...{ period: { kind: 'month' as const, startMonth: 1, startDay: 1 }, denies: true, tellAt: [50, 80, 100] },
  ...{ limitMicros: 1_000, grantableMicros: 1_000 },
};
const asked = (requestId: string, amountMicros: number) => ({
  ...{ requestId, agentId: 'planner', runId: 'run-1', planKey: 'pro', amountMicros, ttlSeconds: 7_200, ...UNKNOWN },
});

describe.each(Object.entries(recorded.answers))('the ledger of %s that release 0.1.0 has written', (name, answers) => {
  const tenantId = provenTenantId(name);

  it('has every day, account and reservation', async () => {
    const ledger = await ledgerOf(tenantId);
    expect(ledger.days).toMatchObject(answers.days);
    const accounts = dailyAccounts(ledger);
    expect(accounts.size).toBe(answers.accountTotal);
    for (const [day, { scope, scopeId }, account] of answers.accounts) {
      expect(accounts.get(`${day}/${scope}/${scopeId}`)).toEqual(account);
    }
  });

  it('gives the answers that release 0.1.0 gave', async () => {
    const ledger = replica(tenantId, answers.now);
    const limits = answers.items.map(({ scope, scopeId, dailyBudgetMicros: limitMicros }) => {
      return { scope, scopeId, limitMicros };
    });
    const { items } = await ledger.submit(viewLimits(limits));
    expect(items).toMatchObject(answers.items.map(({ dailyBudgetMicros: _, ...item }) => item));
    for (const reservation of answers.reservations) {
      expect(await ledger.submit(read(reservation.id))).toMatchObject(reservation);
    }
  });

  it('goes on with a budget, in which its open reservations count', async () => {
    const ledger = replica(tenantId, answers.now);
    const active = createActiveBudgets([MONTH], 1);
    const ask = (amount: number) => {
      const limits = active.limitsFor(
        { agent: 'planner', plan: 'pro', model: null, provider: null, key: null, labels: {} },
        answers.now,
      );
      return ledger.submit(reserve({ ...asked(`new-${amount}`, amount), limits, dryRun: false }, active));
    };
    // 60 and 90 micros are reserved.
    expect(await ask(851)).toMatchObject({ decision: 'denied', denial: { scopeId: 'bud_month', heldMicros: 150 } });
    expect(await ask(850)).toMatchObject({ decision: 'allowed' });
    const open = answers.reservations.at(-1)!;
    await ledger.submit(settle(open.id, { settlementId: 's-open', amountMicros: 80 }, active));
    const [item] = (await ledger.submit(viewLimits([active.limitOf(MONTH.meter, '')!]))).items;
    expect(item).toMatchObject({ spentMicros: 80, heldMicros: 910 });
  });
});

const AT = Date.parse('2026-06-01T00:00:00Z');
const DAY: Op = { op: 'day', start: AT, end: AT + 86_400_000, timezone: 'UTC' };
const call = { agentId: 'planner', planKey: 'pro', day: AT };
const hold = {
  ...{ id: 'rsv_1', requestId: 'r1', runId: 'run', amountMicros: 7, ttlSeconds: 60, createdAt: AT, expiresAt: AT + 60 },
  ...{ ...call, said: 'digest', labels: { team: 'growth' }, model: 'large-1', provider: 'acme', keyId: 'key_1' },
};
const GRANT: Op = { op: 'grant', ...hold };
const end = { id: 'rsv_1', expiresAt: AT + 60 };
const account = ['bud_1.1', AT, ''] as const;
const accounts = [account];
const fill = { meters: ['bud_1.1'], from: AT, until: AT + 9, cursor: '', readUntil: AT };

const terms = { amountMicros: 7, settledMicros: 0, wishedMicros: 9, minMicros: 1 };
const LEASE: Op = { op: 'lease', ...hold, id: 'lse_1', runId: '', lease: terms };
const settlements = [['s', 3]] as const;

/** For each kind of op, entries that have it. Those of `later` change what only later releases know. */
const OPS: Record<Op['op'], { daily?: Op[][]; later?: Op[][] }> = {
  day: { daily: [[DAY]] },
  grant: { daily: [[DAY, GRANT]], later: [[DAY, { ...GRANT, accounts } as Op]] },
  extend: { daily: [[DAY, GRANT, { op: 'extend', id: 'rsv_1', expiresAt: AT + 90 }]] },
  expire: { daily: [[DAY, GRANT, { op: 'expire', ...end }]] },
  release: { daily: [[DAY, GRANT, { op: 'release', ...end }]] },
  settle: { daily: [[DAY, GRANT, { op: 'settle', settlementId: 's', micros: 9, counted: false, ...end }]] },
  late: {
    daily: [[DAY, { op: 'late', settlementId: 's', micros: 9, counted: false, ...end, ...call }]],
    later: [[DAY, { op: 'late', settlementId: 's', micros: 9, counted: false, ...end, ...call, accounts }]],
  },
  post: {
    daily: [[DAY, { op: 'post', settlementId: 's', micros: 9, ...call }]],
    later: [[DAY, { op: 'post', settlementId: 's', micros: 9, ...call, accounts }]],
  },
  report: { daily: [[DAY, { op: 'report', day: AT, scope: 'agent', scopeId: 'planner', percent: 80 }]] },
  period: { later: [[DAY, { op: 'period', meter: 'bud_1.1', start: AT, end: AT + 9, until: AT + 10 }]] },
  begin: { later: [[DAY, { op: 'begin', cut: 1, at: AT, meters: [['bud_1.1', null]] }]] },
  adopt: { later: [[DAY, GRANT, { op: 'adopt', id: 'rsv_1', accounts }]] },
  forget: { later: [[{ op: 'forget', meters: ['bud_1.1'] }]] },
  fill: { later: [[{ op: 'fill', spend: [[account, 5]], ...fill }]] },
  tell: { later: [[{ op: 'tell', account, percent: 80 }]] },
  lease: { later: [[DAY, LEASE]] },
  renew: {
    later: [
      [
        {
          op: 'renew',
          id: 'lse_1',
          requestId: 'r2',
          wishedMicros: 9,
          ttlSeconds: 60,
          amountMicros: 8,
          expiresAt: AT + 90,
        },
      ],
    ],
  },
  draw: { later: [[{ op: 'draw', id: 'lse_1', settlements }]] },
  draw_late: { later: [[DAY, { op: 'draw_late', id: 'lse_1', settlements, ...call }]] },
};
const entriesOf = (of: 'daily' | 'later') =>
  Object.entries(OPS).flatMap(([op, cases]) => (cases[of] ?? []).map((ops) => [op, ops] as const));

async function storedEntries(tenantId: TenantId, ...entries: (readonly Op[])[]) {
  for (const [index, ops] of entries.entries()) {
    expect(await journal.append(tenantId, { seq: index + 1, at: Date.now(), ops: [...ops] })).toBe('added');
  }
  return collection('journal')
    .find({ _id: { $gt: `${tenantId}/`, $lt: `${tenantId}0` } })
    .sort({ _id: 1 })
    .toArray();
}
async function storedSnapshot(tenantId: TenantId, ledger: LedgerState): Promise<object> {
  await snapshots.save(tenantId, { seq: 1, ledger });
  const stored = await collection('snapshots').findOne({ _id: tenantId });
  return JSON.parse(gunzipSync(stored!.content.buffer).toString()) as object;
}
function ledgerWith(ops: readonly Op[]): LedgerState {
  const ledger = createLedger();
  for (const op of ops) applyOp(ledger, op);
  return ledger;
}
/** Without what it keeps of a snapshot and does not know. */
const accountsOf = ({ accounts: of }: ReleasedLedger) =>
  new Map([...of].sort().map(([name, account]) => [name, { ...account, leases: undefined }]));

describe('a replica of release 0.1.0', () => {
  it.each(entriesOf('daily'))('counts an entry with "%s" as this version does', async (op, ops) => {
    const tenantId = provenTenantId(`ws_daily_${op}`);
    const now = ledgerWith(ops);
    const wanted = new Map([...dailyAccounts(now)].sort());
    expect(accountsOf(readReleasedJournal(await storedEntries(tenantId, ops)))).toEqual(wanted);
    expect(accountsOf(readReleasedSnapshot(await storedSnapshot(tenantId, now)))).toEqual(wanted);
  });

  it.each(entriesOf('later'))('refuses an entry with "%s" of a budget or a lease', async (op, ops) => {
    const entries = await storedEntries(provenTenantId(`ws_later_${op}`), ops);
    expect(() => readReleasedJournal(entries)).toThrow('of a newer version of this service');
  });

  it('refuses a snapshot with budgets, also once all of them are deleted', async () => {
    const begin: Op = { op: 'begin', cut: 1, at: AT, meters: [['bud_1.1', AT]] };
    const ledger = ledgerWith([DAY, begin]);
    const content = await storedSnapshot(provenTenantId('ws_with_budget'), ledger);
    expect(() => readReleasedSnapshot(content)).toThrow();
    applyOp(ledger, { op: 'forget', meters: ['bud_1.1'] });
    const later = await storedSnapshot(provenTenantId('ws_without_budget'), ledger);
    expect(() => readReleasedSnapshot(later)).toThrow();
  });

  it('refuses a snapshot with an open lease, and reads one without any', async () => {
    const ledger = ledgerWith([DAY, LEASE]);
    const content = await storedSnapshot(provenTenantId('ws_with_lease'), ledger);
    expect(() => readReleasedSnapshot(content)).toThrow();
    const { ledger: again } = await snapshots.load(provenTenantId('ws_with_lease'));
    expect(again.hold('lse_1')).toEqual(ledger.hold('lse_1'));
    expect(again.leases).toEqual({ count: 1, leftMicros: 7 });
    applyOp(ledger, { op: 'release', id: 'lse_1', expiresAt: AT + 60 });
    const later = await storedSnapshot(provenTenantId('ws_without_lease'), ledger);
    expect(accountsOf(readReleasedSnapshot(later))).toEqual(new Map([...dailyAccounts(ledger)].sort()));
  });
});
