import type { Connection } from 'mongoose';
import type { GroupView } from './assignment.ts';

/** A consumer group of one topic. It is one document, so all members decide on the same consistent view. */
interface StoredGroup {
  _id: string;
  /** Increases with every change of `owners`. */
  version: number;
  members: { id: string; expiresAt: Date }[];
  owners: (string | null)[];
}

export interface VersionedGroupView extends GroupView {
  version: number;
}

export type GroupStore = ReturnType<typeof createGroupStore>;

/**
 * Membership and ownership of partitions. Leases use the server's clock, so the members' clocks need not agree. Two
 * members may briefly consider themselves the owner. Effects still happen exactly once, because storing a position
 * fails for the member that is behind.
 */
export function createGroupStore(connection: Connection, { group, topic }: { group: string; topic: string }) {
  const groups = connection.collection<StoredGroup>('log_groups');
  const _id = `${group}/${topic}`;

  return {
    /** Renews the lease of `member` for `leaseMs`, removes members whose lease has ended, and returns the new group. */
    async heartbeat(member: string, leaseMs: number, partitions: number): Promise<VersionedGroupView> {
      const stored = await groups.findOneAndUpdate({ _id }, heartbeatOf(member, leaseMs, partitions), {
        upsert: true,
        returnDocument: 'after',
        // If a crash loses a heartbeat, another one follows, so waiting for the journal is not worth it.
        writeConcern: { w: 1, journal: false },
      });
      if (stored === null) throw new Error(`Consumer group ${_id} could not be joined`);
      return { version: stored.version, members: stored.members.map(({ id }) => id), owners: stored.owners };
    },

    /** Takes the partitions. False, with no partition taken, if the owners have changed since `version`. */
    async claim(member: string, partitions: readonly number[], version: number): Promise<boolean> {
      const taken = Object.fromEntries(partitions.map((partition) => [`owners.${partition}`, member]));
      const { modifiedCount } = await groups.updateOne({ _id, version }, { $set: taken, $inc: { version: 1 } });
      return modifiedCount === 1;
    },

    /** Gives up the partition, if the member still has it. */
    async release(member: string, partition: number): Promise<void> {
      const owner = `owners.${partition}`;
      await groups.updateOne({ _id, [owner]: member }, { $set: { [owner]: null }, $inc: { version: 1 } });
    },

    /** Gives up all partitions, so that others need not wait for the lease to end. */
    async leave(member: string): Promise<void> {
      await groups.updateOne(
        { _id },
        { $pull: { members: { id: member } }, $set: { 'owners.$[own]': null }, $inc: { version: 1 } },
        { arrayFilters: [{ own: member }] },
      );
    },
  };
}

function heartbeatOf(member: string, leaseMs: number, partitions: number) {
  const others = {
    $filter: {
      input: { $ifNull: ['$members', []] },
      cond: { $and: [{ $gt: ['$$this.expiresAt', '$$NOW'] }, { $ne: ['$$this.id', member] }] },
    },
  };
  const self = { id: member, expiresAt: { $add: ['$$NOW', leaseMs] } };
  return [
    {
      $set: {
        version: { $ifNull: ['$version', 0] },
        members: { $concatArrays: [others, [self]] },
        owners: { $ifNull: ['$owners', Array.from({ length: partitions }, () => null)] },
      },
    },
  ];
}
