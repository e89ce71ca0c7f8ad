import { createRecordStore, entryAfter, type Place } from '@tollkeeper/audit';
import { AUDIT_ACTIONS, type AuditRecord, auditRecordOf } from '@tollkeeper/contracts';
import { provenTenantId } from '@tollkeeper/kernel';
import { ensureIndexes } from '@tollkeeper/mongo';
import { createConnection } from 'mongoose';
import { whole } from './statistics.ts';

/** The workspace with nearly all records. */
export const LARGE_WORKSPACE = provenTenantId('ws_large');
export const ACTORS = 200;
/** Targets per type. Every tenth record is about the first one. */
export const TARGETS = 20_000;
/** The action of one in a hundred thousand records. */
export const RARE_ACTION = 'workspace.update';
/** The action of only the oldest record of the large workspace. */
export const FIRST_ACTION = 'workspace.create';
export const END = Date.parse('2026-11-24T00:00:00Z');
export const SPAN_MS = 390 * 86_400_000;

const BATCH = 5_000;
const OTHER_WORKSPACES = 500;

/**
 * Writes `count` records of the large workspace, and a twentieth as many of 500 others, directly into a database of
 * audit. The documents are made by the functions of the consumer, but without the log or transactions, and indexes are
 * created last.
 */
export async function loadRecords(
  { uri, database }: { uri: string; database: string },
  count: number,
  onProgress: (what: string) => void,
): Promise<void> {
  const connection = createConnection(uri, { dbName: database, autoIndex: false, autoCreate: false });
  const store = createRecordStore(connection);
  await connection.asPromise();
  try {
    const ends = new Map<string, Place>();
    const follow = (record: AuditRecord) => {
      const entry = entryAfter(ends.get(record.tenantId) ?? null, record, Date.now());
      ends.set(record.tenantId, entry);
      return entry;
    };
    let written = Promise.resolve();
    for (let first = 0; first < count; first += BATCH) {
      const length = Math.min(BATCH, count - first);
      const entries = Array.from({ length }, (_, index) => follow(recordAt(LARGE_WORKSPACE, first + index, count)));
      const other = `ws_${(first / BATCH) % OTHER_WORKSPACES}`;
      for (let index = 0; index < length; index += 20) entries.push(follow(recordAt(other, first + index, count)));
      // The next batch is made while this one is written.
      await written;
      written = store.insert(undefined, entries);
      if (first % 500_000 === 0) onProgress(`${whole(first)} records are stored`);
    }
    await written;
    onProgress('all records are stored, and their indexes are made now');
    await ensureIndexes(Object.values(connection.models));
  } finally {
    await connection.close();
  }
}

function recordAt(workspace: string, index: number, count: number): AuditRecord {
  const isRare = index % 100_000 === 99_999;
  const action = index === 0 ? FIRST_ACTION : isRare ? RARE_ACTION : AUDIT_ACTIONS[index % 7]!;
  const type = action.split('.')[0]!;
  const target = { type, id: `${type}_${index % 10 === 0 ? 0 : (index * 7) % TARGETS}`, name: 'eu-1 gateway' };
  const actor = { type: 'user', id: `user_${(index * 31) % ACTORS}`, name: 'Ada Lovelace' } as const;
  const request = { address: '203.0.113.7', userAgent: 'curl/8.9.1', requestId: `req_${index}` };
  const changes = [{ field: 'daily_budget_usd_micros', from: index, to: index + 1 }];
  const at = END - SPAN_MS + Math.floor((SPAN_MS * index) / count);
  return auditRecordOf(provenTenantId(workspace), { action, actor, ...request }, { target, changes }, at);
}
