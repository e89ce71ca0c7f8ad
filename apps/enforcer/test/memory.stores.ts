import { type AccountKey, type Day, type Hold, keysOf, onlyWanted, type Op } from '../src/domain/journal.ts';
import type { Account } from '../src/domain/ledger.ts';
import type { MeterPeriod } from '../src/domain/ledger.accounts.ts';
import type { Fill, Meter } from '../src/domain/metering.ts';
import { createLedger } from '../src/domain/ledger.state.ts';
import type { PlacedGrant } from '../src/domain/reservation.list.ts';
import type { LedgerMemory } from '../src/ledger/ledger.memory.ts';
import type { JournalStore } from '../src/store/journal.store.ts';
import type { SnapshotStore } from '../src/store/snapshot.store.ts';

/** An in-memory journal, for very many short histories. The suite of stores shows that it behaves like the real one. */
export function createMemoryJournal(): JournalStore {
  const entries = new Map<string, { seq: number; text: string }[]>();
  const ids = new Set<string>();
  const byKey = new Map<string, { seq: number; text: string }>();
  const of = (tenantId: string) => entries.get(tenantId) ?? [];

  return {
    async append(tenantId, entry) {
      const id = `${tenantId}/${entry.seq}`;
      const keyed = entry.ops.flatMap((op) =>
        keysOf(op).map((key) => [`${tenantId}/${key}`, JSON.stringify(op)] as const),
      );
      if (ids.has(id)) return 'behind';
      if (keyed.some(([key]) => byKey.has(key))) return 'repeated';
      ids.add(id);
      for (const [key, text] of keyed) byKey.set(key, { seq: entry.seq, text });
      const all = [...of(tenantId), { seq: entry.seq, text: JSON.stringify(entry) }];
      entries.set(
        tenantId,
        all.sort((a, b) => a.seq - b.seq),
      );
      return 'added';
    },
    async *readAfter(tenantId, seq) {
      for (const entry of of(tenantId)) if (entry.seq > seq) yield JSON.parse(entry.text);
    },
    async find(tenantId, keys) {
      const wanted = new Set(keys);
      const found = keys.flatMap((key) => {
        const found = byKey.get(`${tenantId}/${key}`);
        return found === undefined
          ? []
          : [[key, { seq: found.seq, op: onlyWanted(JSON.parse(found.text) as Op, wanted) }] as const];
      });
      return new Map(found);
    },
    async grantsBefore(tenantId, kind, place, since) {
      const grants = of(tenantId).flatMap(({ seq, text }) => {
        const { at, ops } = JSON.parse(text) as { at: number; ops: Op[] };
        return ops.map((grant, index) => ({ seq, index, grant, at }));
      });
      const wanted = grants.filter(
        ({ seq, index, grant, at }) =>
          grant.op === kind &&
          at >= since &&
          (place === null || seq < place.seq || (seq === place.seq && index < place.index)),
      );
      return { grants: wanted.reverse().map(({ at: _, ...grant }) => grant as PlacedGrant), next: null };
    },
  };
}

/** In-memory snapshots, stored as text so that none shares objects with a ledger. */
export function createMemorySnapshots(): SnapshotStore {
  const stored = new Map<string, { seq: number; text: string }>();

  return {
    bytesOf: async () => 0,
    async load(tenantId) {
      const ledger = createLedger();
      const snapshot = stored.get(tenantId);
      if (snapshot === undefined) return { seq: 0, ledger };
      const { days, periods, holds, accounts, version, meters, fill } = JSON.parse(snapshot.text) as {
        version: number;
        meters: [string, Meter][];
        fill: Fill | null;
        days: Day[];
        periods: MeterPeriod[];
        holds: Hold[];
        accounts: [AccountKey, Account][];
      };
      ledger.setMetering({ version, meters: new Map(meters), fill });
      for (const day of days) ledger.addDay(day);
      for (const { meter, ...period } of periods) ledger.addPeriod(meter, period);
      for (const [key, account] of accounts) Object.assign(ledger.account(key)!, account);
      for (const hold of holds) ledger.setHold(hold);
      return { seq: snapshot.seq, ledger };
    },
    async save(tenantId, { seq, ledger }) {
      if ((stored.get(tenantId)?.seq ?? 0) >= seq) return;
      const { days, periods, holds, accounts, metering, thaw } = ledger.freeze();
      const rest = { accounts: [...accounts()], ...metering, meters: [...metering.meters] };
      stored.set(tenantId, { seq, text: JSON.stringify({ days, periods, holds, ...rest }) });
      thaw();
    },
  };
}

const NEVER_EVICTED: LedgerMemory = { enter: async () => () => undefined, holds: () => undefined, bytes: 0 };
/** For ledgers that are never evicted, and whose budgets are not filled. */
export const ALONE = { memory: NEVER_EVICTED, now: () => performance.now(), onInexact: () => undefined };
