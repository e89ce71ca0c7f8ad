import { resolveRange, type Clock, type TenantId, type TimeWindow } from '@tollkeeper/kernel';
import type { Directory } from '../domain/directory.ts';

/** The window of a query. Its calendar has the workspace's time zone, unless the query names another one. */
export type WindowOf = (tenantId: TenantId, query: { range?: string; timezone?: string }) => Promise<TimeWindow>;

export function createWindowOf(directory: Directory, clock: Clock): WindowOf {
  return async (tenantId, { range, timezone }) =>
    resolveRange(range, timezone ?? (await directory.timezone(tenantId)), clock());
}
