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

/** Since when a workspace is set aside, epoch milliseconds; null: it is no more. */
export type SetAsideChanges = ReadonlyMap<TenantId, number | null>;

/** The workspaces whose events are not evaluated, because their windows do not fit into memory. */
export interface SetAsideStore {
  /** Those of the partition, with since when, epoch milliseconds. */
  ofPartition(partition: number): Promise<Map<TenantId, number>>;
  /** Epoch milliseconds; null for a workspace whose events are evaluated. */
  since(tenantId: TenantId): Promise<number | null>;
  /** Part of the transaction that moves the offset behind the events that were, or were not, evaluated. */
  record(session: ClientSession, partition: number, changes: SetAsideChanges): Promise<void>;
}

/** In the database of `connection`. Make it before the connection starts. */
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
