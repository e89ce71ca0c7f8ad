import type { Connection } from 'mongoose';
import type { GroupView } from './assignment.ts';

/** A consumer group of one topic, in one document: every member decides on the same, consistent view. */
interface StoredGroup {
  _id: string;
  /** Goes up with every change of `owners`. */
  version: number;
  members: { id: string; expiresAt: Date }[];
  owners: (string | null)[];
}

export interface VersionedGroupView extends GroupView {
  version: number;
}

export type GroupStore = ReturnType<typeof createGroupStore>;

/**
 * Membership and ownership of partitions. Time is the server's, so the members' clocks need not agree. Nothing here has
 * to be exact for exactly-once effects: positions fence off an owner that does not know yet that it is one no more.
 */
export function createGroupStore(connection: Connection, { group, topic }: { group: string; topic: string }) {
  const groups = connection.collection<StoredGroup>('log_groups');
  const _id = `${group}/${topic}`;

  return {
    /** Keeps `member` alive for `leaseMs`, forgets members whose time is over, and answers the group as it is then. */
    async heartbeat(member: string, leaseMs: number, partitions: number): Promise<VersionedGroupView> {
      const stored = await groups.findOneAndUpdate({ _id }, heartbeatOf(member, leaseMs, partitions), {
        upsert: true,
        returnDocument: 'after',
        // A heartbeat that a crash forgets is sent again; it is not worth a flush of the journal.
        writeConcern: { w: 1, journal: false },
      });
      if (stored === null) throw new Error(`Consumer group ${_id} could not be joined`);
      return { version: stored.version, members: stored.members.map(({ id }) => id), owners: stored.owners };
    },

    /** Takes the partitions; false, and nothing taken, when the ownership has changed since `version`. */
    async claim(member: string, partitions: readonly number[], version: number): Promise<boolean> {
      const taken = Object.fromEntries(partitions.map((partition) => [`owners.${partition}`, member]));
      const { modifiedCount } = await groups.updateOne({ _id, version }, { $set: taken, $inc: { version: 1 } });
      return modifiedCount === 1;
    },

    /** Gives the partition up, if the member still has it. */
    async release(member: string, partition: number): Promise<void> {
      const owner = `owners.${partition}`;
      await groups.updateOne({ _id, [owner]: member }, { $set: { [owner]: null }, $inc: { version: 1 } });
    },

    /** Gives up everything; the others need not wait for the lease to end. */
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
