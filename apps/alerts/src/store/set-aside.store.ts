import { provenTenantId, type TenantId } from '@tollkeeper/kernel';
import { type ClientSession, type Connection, Schema, trusted } from 'mongoose';

interface StoredSetAside {
  /** The workspace. */
  _id: string;
  partition: number;
  since: Date;
}

const setAsideSchema = new Schema<StoredSetAside>(
  {
    _id: { type: String, required: true },
    partition: { type: Number, required: true },
    since: { type: Date, required: true },
  },
  { collection: 'set_aside', versionKey: false },
);
setAsideSchema.index({ partition: 1 });

/** Since when a workspace is set aside, epoch milliseconds; null if it is no longer. */
export type SetAsideChanges = ReadonlyMap<TenantId, number | null>;

/** The workspaces whose events are skipped because their windows do not fit into memory. */
export interface SetAsideStore {
  /** The workspaces of the partition, each with the time since when, epoch milliseconds. */
  ofPartition(partition: number): Promise<Map<TenantId, number>>;
  /** Epoch milliseconds; null if the workspace's events are evaluated. */
  since(tenantId: TenantId): Promise<number | null>;
  /** Part of the transaction that moves the offset past the evaluated or skipped events. */
  record(session: ClientSession, partition: number, changes: SetAsideChanges): Promise<void>;
}

/** Stores in the database of `connection`. Make it before the connection starts. */
export function createSetAsideStore(connection: Connection): SetAsideStore {
  const workspaces = connection.model<StoredSetAside>('SetAside', setAsideSchema);

  return {
    async ofPartition(partition) {
      const found = await workspaces.find({ partition }).lean();
      return new Map(found.map(({ _id, since }) => [provenTenantId(_id), since.getTime()]));
    },
    async since(tenantId) {
      return (await workspaces.findById(tenantId).lean())?.since.getTime() ?? null;
    },
    async record(session, partition, changes) {
      const back = [...changes].filter(([, since]) => since === null).map(([tenantId]) => tenantId);
      if (back.length > 0) await workspaces.deleteMany({ _id: trusted({ $in: back }) }, { session });
      for (const [_id, since] of changes) {
        if (since === null) continue;
        await workspaces.replaceOne({ _id }, { partition, since: new Date(since) }, { session, upsert: true });
      }
    },
  };
}
