import type { Logger } from '@tollkeeper/runtime';
import type { PartitionWork } from '../partition.worker.ts';
import { planAssignment } from './assignment.ts';
import type { GroupStore, VersionedGroupView } from './group.store.ts';

export interface GroupMembership {
  /** Joins the group and takes free partitions. */
  join(): Promise<void>;
  /** Stops all work and gives up the partitions to other members. */
  leave(): Promise<void>;
  /** Rejects while the group's storage does not answer. */
  ready(): Promise<void>;
}

/**
 * One member of a consumer group. It sends heartbeats and takes its fair share of the partitions. It gives up
 * partitions beyond that share once their batches are done. It stops all work if no heartbeat succeeded for `leaseMs`.
 */
export function createGroupMembership(deps: {
  store: GroupStore;
  member: string;
  partitions: number;
  leaseMs: number;
  logger: Logger;
  startWork(partition: number): PartitionWork;
}): GroupMembership {
  const { store, member, leaseMs, logger } = deps;
  const works = new PartitionWorks();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();
  let left = false;
  let heardAt = 0;
  let failure: Error | undefined;

  async function beat(): Promise<void> {
    const sentAt = performance.now();
    try {
      const group = await store.heartbeat(member, leaseMs, deps.partitions);
      heardAt = sentAt;
      if (failure !== undefined) logger.info({ member }, 'the consumer group answers again');
      failure = undefined;
      await reconcile(group);
    } catch (err) {
      if (failure === undefined) logger.warn({ err, member }, 'the heartbeat to the consumer group failed; retrying');
      failure = err instanceof Error ? err : new Error(String(err));
      if (performance.now() - heardAt > leaseMs)
        for (const partition of works.keys()) void works.stop(partition, { lost: true });
    }
  }

  async function reconcile(group: VersionedGroupView): Promise<void> {
    for (const partition of works.keys())
      if (group.owners[partition] !== member) void works.stop(partition, { lost: true });
    const { claim, surrender } = planAssignment(group, member);
    for (const partition of surrender) void surrenderPartition(partition);
    const claimed = claim.length > 0 && (await store.claim(member, claim, group.version)) ? claim : [];
    for (const [partition, owner] of group.owners.entries()) {
      const assigned = (owner === member && !surrender.includes(partition)) || claimed.includes(partition);
      if (assigned && !works.has(partition) && !left) works.set(partition, deps.startWork(partition));
    }
  }

  async function surrenderPartition(partition: number): Promise<void> {
    await works.stop(partition, { lost: false });
    await store.release(member, partition).catch((err: unknown) => {
      logger.warn({ err, member, partition }, 'a partition could not be released; retrying at the next heartbeat');
    });
  }

  function beatAgain(): void {
    if (left) return;
    timer = setTimeout(() => {
      beating = beat().finally(beatAgain);
    }, leaseMs / 4);
  }

  return {
    async join() {
      beating = beat();
      await beating;
      if (failure !== undefined) throw failure;
      beatAgain();
    },
    async leave() {
      left = true;
      clearTimeout(timer);
      await beating;
      await Promise.all([...works.keys()].map((partition) => works.stop(partition, { lost: false })));
      await store.leave(member).catch((err: unknown) => {
        logger.warn({ err, member }, 'could not leave the consumer group; other members take over when the lease ends');
      });
    },
    async ready() {
      if (performance.now() - heardAt > leaseMs) {
        throw new Error('the consumer group does not answer; no partition is read', { cause: failure });
      }
    },
  };
}

/** A partition stays here until its work has stopped, so that it never has two workers in this process. */
class PartitionWorks extends Map<number, PartitionWork> {
  async stop(partition: number, options: { lost: boolean }): Promise<void> {
    const work = this.get(partition);
    await work?.stop(options);
    if (this.get(partition) === work) this.delete(partition);
  }
}
