import type { TenantId } from '@tollkeeper/kernel';

/** A ledger over this share of the budget is large. Large ones are loaded one at a time, and are evicted first. */
const LARGE_PART = 1 / 32;
/** A small ledger waits for evictions only if the budget is exceeded by this share. */
const SMALL_MARGIN = 1 / 8;

export interface LedgerMemoryDeps {
  /** Memory for all ledgers together. A larger ledger is in memory alone. */
  budgetBytes: number;
  /** Evicts the ledger of a workspace after its turn in progress. */
  letGo(tenantId: TenantId): Promise<void>;
  onFailure(tenantId: TenantId, error: unknown): void;
}

/** The memory that the ledgers of a process share. */
export interface LedgerMemory {
  /**
   * Call it before a ledger of about this size is loaded. Resolves when there is room or nothing left to evict. Call
   * the result after loading, whether it succeeded or not.
   */
  enter(tenantId: TenantId, bytes: number): Promise<() => void>;
  /** Call it after each turn of a ledger, with its current size; 0 if it is not in memory. */
  holds(tenantId: TenantId, bytes: number): void;
  /** Memory of all ledgers. */
  readonly bytes: number;
}

export function createLedgerMemory({ budgetBytes, letGo, onFailure }: LedgerMemoryDeps): LedgerMemory {
  /** Sizes, in the order of their last turns. */
  const taken = new Map<TenantId, number>();
  /** Their turn waits for memory, so nothing may wait for the end of that turn. */
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

  /** Never rejects. Evicts each ledger at most once, so it ends even if they return meanwhile. */
  async function letOthersGo(): Promise<void> {
    const asked = new Set<TenantId>();
    while (total > budgetBytes) {
      const next = nextToGo(asked);
      if (next === undefined) return;
      asked.add(next);
      await letGo(next).catch((error: unknown) => onFailure(next, error));
    }
  }

  /** The least recently used large ledger, or else small one; never the most recently used. */
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
