import type { AuditTrail } from '@tollkeeper/audit-trail';
import { changeInTurn } from '@tollkeeper/mongo';
import { type Connection, Schema } from 'mongoose';
import { AUDITED_PAUSE, auditTargetOf, type Pause, type PauseStore } from '../domain/pause.ts';

/** In one document, so that concurrent changes conflict in all replicas, and a list is one read. */
interface StoredPauses {
  /** The tenant. */
  _id: string;
  /** Oldest first. Those that have ended stay until the next change. */
  pauses: Pause[];
}

const pausesSchema = new Schema<StoredPauses>(
  { _id: { type: String, required: true }, pauses: { type: Schema.Types.Mixed, required: true } },
  { collection: 'pauses', versionKey: false },
);

/** Pauses in the database of `connection`. Make it before the connection starts. */
export function createPauseStore(connection: Connection, trail: AuditTrail): PauseStore {
  const workspaces = connection.model<StoredPauses>('Pauses', pausesSchema);
  const openOf = (stored: StoredPauses | null, now: Date) => (stored?.pauses ?? []).filter(({ until }) => until > now);

  return {
    list: async (tenantId, now) => openOf(await workspaces.findById(tenantId).lean(), now),

    change: (tenantId, now, decide, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const open = openOf(await workspaces.findById(tenantId, null, { session }).lean(), now);
        const change = decide(open);
        if (change === null) return change;
        const { before, after } = change;
        const pauses = [...open.filter((pause) => pause !== before), ...(after === null ? [] : [after])];
        await workspaces.replaceOne({ _id: tenantId }, { pauses }, { session, upsert: true });
        const known = after ?? before;
        if (known === null) return change;
        const target = auditTargetOf(known);
        await trail.recordChange(session, tenantId, cause, { target, fields: AUDITED_PAUSE, before, after });
        return change;
      }),
  };
}
