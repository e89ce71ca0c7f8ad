import type { TenantId } from '@tollkeeper/kernel';

/** A ledger of this part of the budget is large: it is loaded alone, and leaves before small ones do. */
const LARGE_PART = 1 / 32;
/** A small ledger does not wait for large ones to leave, until the budget is passed by this part. */
const SMALL_MARGIN = 1 / 8;

export interface LedgerMemoryDeps {
  /** What all ledgers may take together. One that takes more for itself is in memory alone. */
  budgetBytes: number;
  /** Takes the ledger of a workspace out of memory, after the turn that it has in progress. */
  letGo(tenantId: TenantId): Promise<void>;
  onFailure(tenantId: TenantId, error: unknown): void;
}

/** The memory that the ledgers of a process share. */
export interface LedgerMemory {
  /**
   * Before a ledger of about so many bytes is loaded: resolves when there is room for it, or nothing else that could
   * leave. To be called when it is loaded, or was not: what it resolves to.
   */
  enter(tenantId: TenantId, bytes: number): Promise<() => void>;
  /** After each turn of a ledger: what it takes now, 0 if it is not in memory. */
  holds(tenantId: TenantId, bytes: number): void;
  /** What all of them take. */
  readonly bytes: number;
}

export function createLedgerMemory({ budgetBytes, letGo, onFailure }: LedgerMemoryDeps): LedgerMemory {
  /** In the order of their last turns. */
  const taken = new Map<TenantId, number>();
  /** They are in a turn that waits for memory, so nobody may wait for the end of that turn. */
  const entering = new Set<TenantId>();
  let total = 0;
  let lastLarge = Promise.resolve();
  let leaving: Promise<void> | undefined;
  const isLarge = (bytes: number) => bytes >= budgetBytes * LARGE_PART;

  function holds(tenantId: TenantId, bytes: number): void {
    total += bytes - (taken.get(tenantId) ?? 0);
    taken.delete(tenantId);
    if (bytes > 0) taken.set(tenantId, bytes);
    if (total > budgetBytes) void makeRoom();
  }

  function makeRoom(): Promise<void> {
    leaving ??= letOthersGo().finally(() => {
      leaving = undefined;
    });
    return leaving;
  }

  /** Never rejects. Each leaves at most once, so it ends while they come back. */
  async function letOthersGo(): Promise<void> {
    const asked = new Set<TenantId>();
    while (total > budgetBytes) {
      const next = nextToGo(asked);
      if (next === undefined) return;
      asked.add(next);
      await letGo(next).catch((error: unknown) => onFailure(next, error));
    }
  }

  /** Of the large ones the one that is used least, else of all. Not the one that was used last. */
  function nextToGo(asked: ReadonlySet<TenantId>): TenantId | undefined {
    const last = [...taken.keys()].at(-1);
    let small: TenantId | undefined;
    for (const [tenantId, bytes] of taken) {
      if (tenantId === last || asked.has(tenantId) || entering.has(tenantId)) continue;
      if (isLarge(bytes)) return tenantId;
      small ??= tenantId;
    }
    return small;
  }

  return {
    async enter(tenantId, bytes) {
      entering.add(tenantId);
      const turn = Promise.withResolvers<void>();
      if (isLarge(bytes)) {
        const before = lastLarge;
        lastLarge = turn.promise;
        await before;
      }
      holds(tenantId, bytes);
      if (total > budgetBytes * (isLarge(bytes) ? 1 : 1 + SMALL_MARGIN)) await makeRoom();
      return () => {
        entering.delete(tenantId);
        turn.resolve();
      };
    },
    holds,
    get bytes() {
      return total;
    },
  };
}
