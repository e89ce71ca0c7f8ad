import { hash } from 'node:crypto';
import type { ReadAuditRecord } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** Days that a record is kept after it was added to the chain. */
export const RETENTION_DAYS = 400;
export const RETENTION_MS = RETENTION_DAYS * 86_400_000;

/** The position of a record in the chain of its workspace. The next record contains it. */
export interface Place {
  /** 1, 2, 3 … without gaps. */
  sequence: number;
  /** SHA-256 of the entry, in hex. */
  hash: string;
  /** When the record was added to the chain. It rises with the sequence, so records expire in order. */
  recordedAt: Date;
}

/** A record in the chain of its workspace. */
export interface Entry extends ReadAuditRecord, Place {
  /** The position of the record before it; null for the first. It stays when that record has expired. */
  previous: Omit<Place, 'sequence'> | null;
}

/** Makes the next entry of the chain that ends at `head`. */
export function entryAfter(head: Place | null, record: ReadAuditRecord, now: number): Entry {
  const recordedAt = new Date(Math.max(now, (head?.recordedAt.getTime() ?? 0) + 1));
  const previous = head && { hash: head.hash, recordedAt: head.recordedAt };
  const entry = { ...record, sequence: (head?.sequence ?? 0) + 1, recordedAt, previous };
  return { ...entry, hash: hashOf(entry) };
}

/** The hash that an entry must have: of all its fields, and of the entry before it. */
export function hashOf(entry: Omit<Entry, 'hash'>): string {
  const { actor, target, previous } = entry;
  const said = [
    ...['v1', entry.tenantId, entry.sequence, entry.recordedAt.toISOString()],
    previous && [previous.hash, previous.recordedAt.toISOString()],
    ...[entry.id, entry.occurredAt, entry.action],
    [actor.type, actor.id, actor.name],
    [target.type, target.id, target.name],
    entry.changes.map(({ field, from, to }) => [field, from, to]),
    [entry.address, entry.userAgent, entry.requestId],
  ];
  return hash('sha256', JSON.stringify(said));
}

/** Which records to list. Times are epoch milliseconds, `from` included and `to` excluded. */
export interface RecordFilter {
  actorId?: string | undefined;
  action?: string | undefined;
  targetType?: string | undefined;
  targetId?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

/** A position in a list: the last record of a page. */
export interface ListPlace {
  /** `occurredAt` in epoch milliseconds. */
  time: number;
  /** Position in the chain: orders records with the same time. */
  sequence: number;
}

/** The records of all workspaces. No method returns records of another workspace, or alters or deletes a record. */
export interface RecordReader {
  /**
   * At most `limit` records after `after`, newest first, and the position of the last one; null when no more follow.
   */
  list(
    tenantId: TenantId,
    filter: RecordFilter,
    page: { limit: number; after: ListPlace | undefined },
  ): Promise<{ entries: Entry[]; next: ListPlace | null }>;
  /** Null if the workspace has no record with this id. */
  find(tenantId: TenantId, recordId: string): Promise<Entry | null>;
}
