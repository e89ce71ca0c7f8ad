import { isDeepStrictEqual } from 'node:util';

/** The value of a field. Lists contain only strings or numbers. */
export type AuditValue = string | number | boolean | null | readonly (string | number)[];

/** A field that was set, unset or changed. For a secret, `to` is {@link CHANGED} and `from` is null. */
export interface AuditChange {
  field: string;
  from: AuditValue;
  to: AuditValue;
}

/** Replaces the value of a secret that was set, unset or changed. */
export const CHANGED = 'changed';

/** Limits of a record: longer values are cut, so that no input prevents a change from being recorded. */
export const AUDIT_LIMITS = {
  changes: 64,
  field: 64,
  text: 1024,
  items: 64,
  item: 256,
  /** All changes together, as JSON: a record must fit into the log, whatever characters it contains. */
  changesBytes: 256 * 1024,
} as const;

/** How to read a field of `T`; `secret` if only the fact that it changed may be shown. */
export type AuditedField<T> = ((of: T) => AuditValue) | { secret: (of: T) => unknown };

/**
 * The fields of a target that the audit log records, by their API names. Fields that are not listed never get into a
 * record.
 */
export type AuditedFields<T> = Readonly<Record<string, AuditedField<T>>>;

/** The fields that differ, in the order of the list; null means that the target does not exist. */
export function changesOf<T>(fields: AuditedFields<T>, before: T | null, after: T | null): AuditChange[] {
  const changes: AuditChange[] = [];
  for (const [field, audited] of Object.entries(fields)) {
    const isSecret = typeof audited === 'object';
    const read = isSecret ? audited.secret : audited;
    const from = before === null ? null : read(before);
    const to = after === null ? null : read(after);
    if (isDeepStrictEqual(from, to)) continue;
    changes.push(
      isSecret ? { field, from: null, to: CHANGED } : { field, from: from as AuditValue, to: to as AuditValue },
    );
  }
  return changes;
}
