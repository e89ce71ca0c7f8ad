import {
  AUDIT_TOPIC_OPTIONS,
  type AuditChange,
  type AuditedFields,
  auditRecordOf,
  type AuditTarget,
  type Cause,
  changesOf,
  encodeAuditRecord,
} from '@tollkeeper/contracts';
import { createOutbox, type EventLog, type Outbox } from '@tollkeeper/event-log';
import { type Clock, systemClock, type TenantId } from '@tollkeeper/kernel';
import { activeTrace, type Logger } from '@tollkeeper/runtime';
import type { ClientSession, Connection } from 'mongoose';

/** What was done, and to what. `changes` come from `changesOf`, which reads only fields that may be shown. */
export interface Done {
  target: AuditTarget;
  changes: AuditChange[];
}

/** A target before and after a change; null if it did not exist or no longer exists. */
export interface Changed<T> {
  target: AuditTarget;
  fields: AuditedFields<T>;
  before: T | null;
  after: T | null;
}

/** Writes a service's records for the audit log. */
export interface AuditTrail {
  /**
   * Records how `cause` changed the target, unless nothing differs. Call it in the transaction of the change. The
   * record gets the time of the attempt that commits.
   */
  recordChange<T>(session: ClientSession, tenantId: TenantId, cause: Cause, changed: Changed<T>): Promise<void>;
  /** Like `recordChange`, but also records when no field differs. The record can belong to several workspaces. */
  record(session: ClientSession, of: TenantId | readonly TenantId[], cause: Cause, done: Done): Promise<void>;
  /** Moves the records to the log. Start it with the service, after its connection. */
  readonly outbox: Outbox;
}

/** The audit trail of a service, in the database of `connection`. Make it before the connection starts. */
export function createAuditTrail(deps: {
  connection: Connection;
  eventLog: Pick<EventLog, 'ensureTopic' | 'append'>;
  logger: Logger;
  clock?: Clock | undefined;
}): AuditTrail {
  const { clock = systemClock } = deps;
  const outbox = createOutbox({ ...deps, topic: AUDIT_TOPIC_OPTIONS, collection: 'audit_outbox' });

  const record: AuditTrail['record'] = async (session, of, cause, done) => {
    const trace = activeTrace();
    const records = [of].flat().map((tenantId) => {
      const made = auditRecordOf(tenantId, cause, done, clock());
      return { id: made.id, ...encodeAuditRecord(made), trace };
    });
    await outbox.add(session, records);
  };

  return {
    outbox,
    record,
    async recordChange(session, tenantId, cause, { target, fields, before, after }) {
      const changes = changesOf(fields, before, after);
      if (changes.length > 0) await record(session, tenantId, cause, { target, changes });
    },
  };
}
