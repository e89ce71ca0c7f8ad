import type { Clock } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import type { OpenWorkspace } from '../domain/workspace.windows.ts';

/** Windows unused for this long may be forgotten; the next event reads them again. */
const IDLE_MS = 60_000;
/** Forgetting stops below this share of the budget, so that there is room for some time. */
const ROOMY = 0.9;

/** A workspace whose windows are in memory. */
export interface HeldWorkspace extends OpenWorkspace {
  /** Time of the last event, epoch milliseconds. */
  readonly usedAt: number;
  /** Whether its events are skipped, and its windows forgotten once they are saved. */
  readonly isSetAside: boolean;
  /** Forgets its windows, which must have no unsaved changes. */
  forget(): void;
  /** Skips its events from now on, and forgets its windows once they are saved. */
  setAside(): void;
}

/** The in-memory windows of one partition. */
export interface WindowHolder {
  /** Without the windows of workspaces that are set aside, which leave with the next save. */
  readonly bytes: number;
  held(): Iterable<HeldWorkspace>;
  /** Number of its workspaces that are set aside. */
  readonly setAsideCount: number;
}

/**
 * The memory for the windows of all partitions, which are a cache of the stored windows. Over budget, the workspaces
 * that were idle for a minute are forgotten, the longest idle first. So none is read more than once a minute. If the
 * busy ones need too much, the largest is set aside until there is room.
 */
export interface WindowMemory {
  /** Includes the windows of a partition until `leave`. */
  join(holder: WindowHolder): void;
  leave(holder: WindowHolder): void;
  /** Frees memory if the budget is exceeded. */
  makeRoom(): void;
  /** Whether this many bytes fit beside the windows of workspaces that are not idle. */
  hasRoomFor(bytes: number): boolean;
  /** Runs one piece of work at a time: the size of what it reads from the store is not known in advance. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Rejects with advice for operators while workspaces are set aside. */
  impaired(): Promise<void>;
}

export function createWindowMemory(deps: {
  budgetBytes: number;
  metrics: Metrics;
  logger: Logger;
  clock: Clock;
}): WindowMemory {
  const { budgetBytes, metrics, logger, clock } = deps;
  const holders = new Set<WindowHolder>();
  let turn: Promise<unknown> = Promise.resolve();

  const setAsideCount = (): number => [...holders].reduce((total, holder) => total + holder.setAsideCount, 0);

  function usedBytes(): number {
    let used = 0;
    for (const { bytes } of holders) used += bytes;
    return used;
  }

  function all(): HeldWorkspace[] {
    return [...holders].flatMap((holder) => [...holder.held()]);
  }

  function isIdle({ isChanged, isSetAside, usedAt }: HeldWorkspace): boolean {
    return !isChanged && !isSetAside && clock() - usedAt >= IDLE_MS;
  }

  function forgetIdle(): void {
    const idle = all().filter(isIdle);
    for (const workspace of idle.toSorted((a, b) => a.usedAt - b.usedAt)) {
      if (usedBytes() <= ROOMY * budgetBytes) return;
      workspace.forget();
    }
  }

  function setLargestAside(): void {
    const busy = all().filter(({ isSetAside }) => !isSetAside);
    let staying = busy.reduce((total, { bytes }) => total + bytes, 0);
    for (const workspace of busy.toSorted((a, b) => b.bytes - a.bytes)) {
      if (staying <= budgetBytes) return;
      staying -= workspace.bytes;
      const { tenantId, bytes } = workspace;
      const reason = `its windows take at least ${bytes} bytes; all windows together may take ${budgetBytes}`;
      logger.warn(
        { tenant_id: tenantId, reason },
        'alert rules of a workspace are not evaluated; raise WINDOW_MEMORY_BYTES and the memory limit, or disable rules',
      );
      workspace.setAside();
    }
  }

  exposeMemory(metrics, { usedBytes, setAsideCount });

  return {
    join: (holder) => void holders.add(holder),
    leave: (holder) => void holders.delete(holder),
    makeRoom() {
      if (usedBytes() <= budgetBytes) return;
      forgetIdle();
      if (usedBytes() > budgetBytes) setLargestAside();
    },
    hasRoomFor(bytes) {
      const staying = all().filter((workspace) => !isIdle(workspace) && !workspace.isSetAside);
      return staying.reduce((total, workspace) => total + workspace.bytes, bytes) <= ROOMY * budgetBytes;
    },
    inTurn(work) {
      const result = turn.then(work);
      turn = result.catch(() => undefined);
      return result;
    },
    async impaired() {
      const count = setAsideCount();
      if (count === 0) return;
      throw new Error(
        `the rules of ${count} workspaces are not evaluated because their windows do not fit into WINDOW_MEMORY_BYTES ` +
          `(${budgetBytes}); the log names the workspaces`,
      );
    },
  };
}

function exposeMemory(metrics: Metrics, memory: { usedBytes(): number; setAsideCount(): number }): void {
  metrics.gauge({
    name: 'alerts_window_bytes',
    help: 'Approximate memory used by rule windows, in bytes',
    collect() {
      this.set(memory.usedBytes());
    },
  });
  metrics.gauge({
    name: 'alerts_workspaces_set_aside',
    help: 'Workspaces whose events are not evaluated because the windows of their rules do not fit into memory',
    collect() {
      this.set(memory.setAsideCount());
    },
  });
}
