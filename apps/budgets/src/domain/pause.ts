import type { AuditedFields, AuditTarget, Cause, PauseScope } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** What people say of a pause. */
export interface PauseDraft {
  scope: PauseScope;
  /** An `agent_id`, the id of a workspace key, or the value of the label. */
  value: string;
  until: Date;
  reason: string;
}

/** Until its end, calls with the value get no reservations and no leases. */
export interface Pause extends PauseDraft {
  id: string;
  /** The user, with the name at that time. */
  pausedBy: { id: string; name: string };
  createdAt: Date;
}

/** The fields of a pause that the audit log records. */
export const AUDITED_PAUSE: AuditedFields<PauseDraft> = {
  scope: ({ scope }) => scope,
  value: ({ value }) => value,
  until: ({ until }) => until.toISOString(),
  reason: ({ reason }) => reason,
};

export function auditTargetOf({ id, scope, value }: Pause): AuditTarget {
  return { type: 'pause', id, name: `${scope} ${value}` };
}

/** A pause that was made, replaced or ended. */
interface ChangedPause {
  before: Pause | null;
  after: Pause | null;
}

/** Stores pauses. No method finds one of another workspace. Changes are audited in the same transaction. */
export interface PauseStore {
  /** Those that have not ended at the time, oldest first. */
  list(tenantId: TenantId, now: Date): Promise<Pause[]>;
  /**
   * Stores what `decide` makes of the pauses that have not ended, and forgets the others. Null changes nothing. If
   * `decide` throws, nothing is stored and the error is passed on. Changes in a workspace are serialized, so `decide`
   * may run again on newer pauses and must have no side effects.
   */
  change<Change extends ChangedPause | null>(
    tenantId: TenantId,
    now: Date,
    decide: (open: readonly Pause[]) => Change,
    cause: Cause,
  ): Promise<Change>;
}
