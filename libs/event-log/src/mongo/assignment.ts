/** The members of a group that are alive and the owner of each partition, by partition number. */
export interface GroupView {
  members: readonly string[];
  owners: readonly (string | null)[];
}

export interface Assignment {
  /** Partitions without a living owner that the member may take. */
  claim: number[];
  /** Partitions that the member has above its share, to be given up for others. */
  surrender: number[];
}

/**
 * What `member` has to change so that every living member ends up with an equal share: the shares differ by at most one
 * and add up to all partitions, and a partition moves only when it must. Each member plans for itself; nobody takes
 * what a living member has not surrendered.
 */
export function planAssignment({ members, owners }: GroupView, member: string): Assignment {
  const living = members.toSorted();
  const rank = living.indexOf(member);
  const share = Math.floor(owners.length / living.length) + (rank < owners.length % living.length ? 1 : 0);

  const partitions = [...owners.keys()];
  const owned = partitions.filter((partition) => owners[partition] === member);
  const free = partitions.filter((partition) => {
    const owner = owners[partition] ?? null;
    return owner === null || !living.includes(owner);
  });
  return { claim: free.slice(0, Math.max(0, share - owned.length)), surrender: owned.slice(share) };
}
