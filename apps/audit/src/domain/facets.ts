import { createHash } from 'node:crypto';
import type { ReadAuditRecord } from '@tollkeeper/contracts';
import type { RecordFilter } from './entry.ts';

/**
 * A record has a facet for each combination of filters that it is found by. So one index serves all of them, and a page
 * of any combination is a walk along that index, however rare what is asked for is.
 *
 * The type of a target is no part of a facet with its id: hardly two targets have the same id.
 */
export function facetsOf({ actor, action, target }: Pick<ReadAuditRecord, 'actor' | 'action' | 'target'>): string[] {
  const targets = [{}, { targetType: target.type }, { targetId: target.id }];
  return [{}, { actorId: actor.id }].flatMap((byActor) =>
    [{}, { action }].flatMap((byAction) => targets.map((byTarget) => digest({ ...byActor, ...byAction, ...byTarget }))),
  );
}

/** The facet that all records of the filter have. */
export function facetOf({ actorId, action, targetType, targetId }: RecordFilter): string {
  return digest({ actorId, action, targetId, targetType: targetId === undefined ? targetType : undefined });
}

/** 12 characters. Two combinations of a workspace can share it, so a query names its fields as well. */
function digest({ actorId, action, targetType, targetId }: RecordFilter): string {
  const words = [actorId ?? null, action ?? null, targetType ?? null, targetId ?? null];
  return createHash('sha256').update(JSON.stringify(words)).digest('base64url').slice(0, 12);
}
