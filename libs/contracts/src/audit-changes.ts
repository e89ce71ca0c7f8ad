import { isDeepStrictEqual } from 'node:util';

/** What a field was or is. A list holds texts or numbers alone. */
export type AuditValue = string | number | boolean | null | readonly (string | number)[];

/** A field that a change has set, unset or altered. Of a secret, `to` is {@link CHANGED} and `from` is null. */
export interface AuditChange {
  field: string;
  from: AuditValue;
  to: AuditValue;
}

/** Stands for a secret that was set, unset or altered. */
export const CHANGED = 'changed';

/** Bounds of a record: what is longer is cut, so that no input keeps a change from being recorded. */
export const AUDIT_LIMITS = {
  changes: 64,
  field: 64,
  text: 1024,
  items: 64,
  item: 256,
  /** Of all changes together, as JSON: a record has to fit the log, whatever its characters take. */
  changesBytes: 256 * 1024,
} as const;

/** How to read a field of `T`; `secret` where only the fact that it changed may be shown. */
export type AuditedField<T> = ((of: T) => AuditValue) | { secret: (of: T) => unknown };

/**
 * The fields of a target that the audit log records, by the names that the API has for them. It is the only way into a
 * record: what is not listed is in none.
 */
export type AuditedFields<T> = Readonly<Record<string, AuditedField<T>>>;

/** The fields that differ, in the order of the list; null stands for a target that is not there. */
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
