import { hash } from 'node:crypto';
import type { ReadAuditRecord } from '@tollkeeper/contracts';
import type { RecordFilter } from './entry.ts';

/**
 * A record has a facet for each combination of filters that matches it. So one index serves all of them, and a page of
 * any combination is a scan of that index, however rare the matches are.
 */
export function facetsOf({ actor, action, target }: Pick<ReadAuditRecord, 'actor' | 'action' | 'target'>): string[] {
  const words = { actorId: actor.id, action, targetType: target.type, targetId: target.id };
  let combinations: RecordFilter[] = [{}];
  for (const [field, word] of Object.entries(words)) {
    combinations = combinations.flatMap((others) => [others, { ...others, [field]: word }]);
  }
  return combinations.map(facetOf);
}

/**
 * The facet of all records that match the filter. Two filters can have the same facet, so queries also name the fields.
 */
export function facetOf({ actorId, action, targetType, targetId }: RecordFilter): string {
  const words = [actorId ?? null, action ?? null, targetType ?? null, targetId ?? null];
  return hash('sha256', JSON.stringify(words), 'base64url').slice(0, 12);
}
