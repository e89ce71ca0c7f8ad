import { resolveRange, type Clock, type TenantId, type TimeWindow } from '@tollkeeper/kernel';
import type { Directory } from '../domain/directory.ts';

/** The window that a query asks for; its calendar is the workspace's unless it names a time zone. */
export type WindowOf = (tenantId: TenantId, query: { range?: string; timezone?: string }) => Promise<TimeWindow>;

export function createWindowOf(directory: Directory, clock: Clock): WindowOf {
  return async (tenantId, { range, timezone }) =>
    resolveRange(range, timezone ?? (await directory.timezone(tenantId)), clock());
}
