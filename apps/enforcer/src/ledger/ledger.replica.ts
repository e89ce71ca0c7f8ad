import { startSlices, type TenantId } from '@tollkeeper/kernel';
import type { Op } from '../domain/journal.ts';
import { applyOp } from '../domain/ledger.ts';
import type { LedgerState } from '../domain/ledger.state.ts';
import type { JournalStore } from '../store/journal.store.ts';
import type { SnapshotStore } from '../store/snapshot.store.ts';
import type { HoldTimer } from './hold.timer.ts';
import type { LedgerMemory } from './ledger.memory.ts';
import type { LedgerMetrics } from './ledger.metrics.ts';
import { createLedgerSnapshots, type LedgerSnapshotsDeps, type Progress } from './ledger.snapshots.ts';

export interface LedgerReplicaDeps extends LedgerSnapshotsDeps {
  journal: Pick<JournalStore, 'readAfter'>;
  snapshots: SnapshotStore;
  memory: LedgerMemory;
  metrics: LedgerMetrics;
}

/** A workspace's ledger in the memory of this replica: a snapshot, and the journal entries after it. */
export interface LedgerReplica {
  /** Undefined while the ledger is not in memory. */
  readonly ledger: LedgerState | undefined;
  /** Number of the newest entry in the ledger. */
  readonly seq: number;
  load(): Promise<LedgerState>;
  /** Applies the entries of other replicas. Other work gets its turn between two entries. */
  catchUp(to: LedgerState): Promise<void>;
  /** Applies the next entry, which this replica has appended. */
  commit(on: LedgerState, ops: readonly Op[], now: number): void;
  /** Writes a snapshot if the last one is outdated. */
  saveSnapshot(): Promise<void>;
  /** Writes a snapshot and leaves memory. If that fails, it rejects and the ledger stays in memory. */
  leave(): Promise<void>;
}

export function createLedgerReplica(tenantId: TenantId, holds: HoldTimer, deps: LedgerReplicaDeps): LedgerReplica {
  const { journal, memory, metrics, logger } = deps;
  const progress: Progress = { ledger: undefined, seq: 0, applied: 0 };
  const snapshots = createLedgerSnapshots(tenantId, progress, deps);

  function apply(op: Op, to: LedgerState): void {
    applyOp(to, op);
    progress.applied += 1;
    holds.note(op, to);
  }

  async function restore(): Promise<LedgerState> {
    const snapshot = await deps.snapshots.load(tenantId);
    const { ledger, unreadable: err } = snapshot;
    if (err !== undefined) {
      metrics.unreadable('snapshot');
      logger.error(
        { err, tenant_id: tenantId },
        'the snapshot of a ledger cannot be read; rebuilding the ledger from the journal alone',
      );
    }
    progress.seq = err === undefined ? snapshot.seq : 0;
    snapshots.loaded();
    holds.restart(ledger);
    await catchUp(ledger);
    // The entries before an unreadable snapshot may all be deleted. The next number must still follow the snapshot's.
    progress.seq = Math.max(progress.seq, snapshot.seq);
    return ledger;
  }

  async function catchUp(to: LedgerState): Promise<void> {
    const slices = startSlices();
    for await (const entry of journal.readAfter(tenantId, progress.seq)) {
      try {
        for (const op of entry.ops) apply(op, to);
      } catch (error) {
        // Part of the entry is applied, and would be applied again at the next read.
        progress.ledger = undefined;
        metrics.unreadable('entry');
        throw new Error(`Entry ${entry.seq} of the journal of ${tenantId} cannot be read`, { cause: error });
      }
      progress.seq = entry.seq;
      if (slices.usedUp()) await slices.next();
    }
  }

  return {
    get ledger() {
      return progress.ledger;
    },
    get seq() {
      return progress.seq;
    },
    async load() {
      if (progress.ledger !== undefined) return progress.ledger;
      const entered = await memory.enter(tenantId, await deps.snapshots.bytesOf(tenantId));
      try {
        progress.ledger = await restore();
        return progress.ledger;
      } finally {
        entered();
      }
    },
    catchUp,
    commit(on, ops, now) {
      progress.seq += 1;
      for (const op of ops) {
        metrics.committed(on, op);
        apply(op, on);
      }
      snapshots.saveIfDue(on, now);
    },
    saveSnapshot: snapshots.save,
    async leave() {
      await snapshots.save();
      progress.ledger = undefined;
      holds.clear();
      memory.holds(tenantId, 0);
    },
  };
}
