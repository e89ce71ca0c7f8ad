/** The live members of a group, and the owner of each partition by partition number. */
export interface GroupView {
  members: readonly string[];
  owners: readonly (string | null)[];
}

export interface Assignment {
  /** Partitions without a live owner that the member may take. */
  claim: number[];
  /** Partitions beyond the member's share, which it gives up for others. */
  surrender: number[];
}

/**
 * The changes by `member` that lead to equal shares for all live members. The shares add up to all partitions and
 * differ by at most one. A partition moves only if it must. Each member plans for itself, and takes a partition of a
 * live member only after that member has surrendered it.
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
