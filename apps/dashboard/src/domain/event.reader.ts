import type { TenantId, TimeSpan } from '@tollkeeper/kernel';
import type { BlockedType, DashboardEvent, SPEND_SETTLED } from './event.ts';
import type { ReadMeter } from './reads.ts';
import type { Subject } from './tallies.ts';

/** Most events that {@link EventReader.blockedReasons} counts of a type. An agent in a loop makes millions. */
export const MAX_COUNTED_BLOCKED = 50_000;

/** A position in a list of blocked events: the last event of a page. */
export interface EventCursor {
  /** Epoch milliseconds. */
  time: number;
  key: string;
}

/** A budget, a pause or a guard that blocked calls. */
export interface BlockedReason {
  by: 'budget' | 'pause' | 'guard';
  /** The name of the budget or of the guard, or the reason of the pause. */
  name: string;
  calls: number;
}

/** Reads single events of a workspace. No method returns events of another workspace. */
export interface EventReader {
  /** At most `limit` events after `after`, newest first. */
  listBlocked(
    tenantId: TenantId,
    type: BlockedType,
    subject: Subject,
    span: TimeSpan,
    limit: number,
    after?: EventCursor,
  ): Promise<DashboardEvent[]>;
  /**
   * What blocked calls in the span, most calls first, at most `limit`. Of each type, it counts only the newest
   * {@link MAX_COUNTED_BLOCKED} events that are stored.
   */
  blockedReasons(tenantId: TenantId, span: TimeSpan, limit: number): Promise<BlockedReason[]>;
  /** The newest event with this type and id, from any source. */
  findBlocked(tenantId: TenantId, type: BlockedType, eventId: string): Promise<DashboardEvent | null>;
  /** The oldest events of a run with this type, oldest first, at most `limit`. */
  listRun(
    tenantId: TenantId,
    type: BlockedType | typeof SPEND_SETTLED,
    runId: string,
    limit: number,
    meter?: ReadMeter,
  ): Promise<DashboardEvent[]>;
  /** The newest settlements of an agent, newest first, at most `limit`. */
  listSettlements(
    tenantId: TenantId,
    agentId: string,
    span: TimeSpan,
    limit: number,
    meter?: ReadMeter,
  ): Promise<DashboardEvent[]>;
  /** Whether an event of the agent is still stored. */
  hasAgent(tenantId: TenantId, agentId: string): Promise<boolean>;
}
