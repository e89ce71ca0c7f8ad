import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import type { TraceHeaders } from '@tollkeeper/runtime';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';

/** An alert whose messages about its firing are held back. */
export interface HeldAlert {
  alertId: string;
  tenantId: TenantId;
  /** The `key` of the active mute that holds them back: they are due once no active mute has it. */
  muteKey: string;
  /** The trace of the messages. */
  trace: TraceHeaders | undefined;
}

interface StoredHold extends Omit<HeldAlert, 'alertId' | 'tenantId'> {
  _id: string;
  tenantId: string;
  heldAt: Date;
  /** Number of changes of the alert since. */
  claims: number;
}

/** What waits for the end of a silence or window. Methods with a session take part in its transaction. */
export interface HeldAlerts {
  add(session: ClientSession, held: readonly HeldAlert[], at: number): Promise<void>;
  /**
   * The ids among these that are held. Also writes to them, so that a release at the same time conflicts: it must see
   * the change of the alert, or this one must see the release.
   */
  claim(session: ClientSession, alertIds: readonly string[]): Promise<string[]>;
  remove(session: ClientSession, alertIds: readonly string[]): Promise<void>;
  move(session: ClientSession, alertId: string, muteKey: string): Promise<void>;
  /** At most `limit` that no mute among `activeKeys` holds, the oldest of each key first. */
  due(tenantId: TenantId, activeKeys: readonly string[], limit: number, session?: ClientSession): Promise<HeldAlert[]>;
  /** Workspaces with held alerts. */
  tenants(): Promise<TenantId[]>;
}

const text = { type: String, required: true } as const;

/** Make it before the connection starts. */
export function createHeldAlerts(connection: Connection): HeldAlerts {
  const schema = new Schema<StoredHold>(
    {
      _id: text,
      tenantId: text,
      muteKey: text,
      trace: { traceparent: String, tracestate: String },
      heldAt: { type: Date, required: true },
      claims: { type: Number, required: true },
    },
    { collection: 'held_alerts', versionKey: false },
  );
  schema.index({ tenantId: 1, muteKey: 1, heldAt: 1 });
  const alerts = connection.model<StoredHold>('HeldAlert', schema);

  return {
    async add(session, held, at) {
      const heldAt = new Date(at);
      const rows = held.map(({ alertId: _id, ...fields }) => ({ ...fields, _id, heldAt, claims: 0 }));
      if (rows.length > 0) await alerts.insertMany(rows, { session });
    },
    async claim(session, alertIds) {
      const filter = { _id: trusted({ $in: [...alertIds] }) };
      const found = await alerts.find(filter, { _id: 1 }, { session }).lean();
      if (found.length > 0) await alerts.updateMany(filter, { $inc: { claims: 1 } }, { session });
      return found.map(({ _id }) => _id);
    },
    async remove(session, alertIds) {
      if (alertIds.length > 0) await alerts.deleteMany({ _id: trusted({ $in: [...alertIds] }) }, { session });
    },
    async move(session, alertId, muteKey) {
      await alerts.updateOne({ _id: alertId }, { $set: { muteKey } }, { session });
    },
    async due(tenantId, activeKeys, limit, session) {
      const filter = { tenantId, muteKey: trusted({ $nin: [...activeKeys] }) };
      const found = await alerts
        .find(filter, null, session && { session })
        .sort({ muteKey: 1, heldAt: 1 })
        .limit(limit)
        .lean();
      return found.map(({ _id, tenantId: of, muteKey, trace }) => ({
        ...{ alertId: _id, tenantId: provenTenantId(of), muteKey },
        trace: trace?.traceparent === undefined ? undefined : trace,
      }));
    },
    tenants: async () => (await alerts.distinct('tenantId')).map(provenTenantId),
  };
}
