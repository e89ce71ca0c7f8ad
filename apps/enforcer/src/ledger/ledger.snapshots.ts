import type { Clock, TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { LedgerState } from '../domain/ledger.state.ts';
import type { SnapshotStore } from '../store/snapshot.store.ts';

/**
 * A snapshot is due after this many entries with at least one op per 2 holds and per 8 accounts, so that its cost is
 * comparatively small, or after this much time if there is any entry.
 */
const SNAPSHOT_ENTRIES = 256;
const SNAPSHOT_MS = 3_600_000;

/** The progress of a replica in the journal of a workspace. */
export interface Progress {
  /** Undefined while the ledger is not in memory. */
  ledger: LedgerState | undefined;
  /** Number of the newest entry in the ledger. */
  seq: number;
  /** Number of applied ops of the journal. */
  applied: number;
}

export interface LedgerSnapshotsDeps {
  snapshots: Pick<SnapshotStore, 'save'>;
  clock: Clock;
  logger: Logger;
}

/** Decides when a snapshot of a ledger is written, and writes one at a time. */
export interface LedgerSnapshots {
  /** Call it after the ledger was loaded from its snapshot. */
  loaded(): void;
  /** Call it after each entry that this replica has appended. */
  saveIfDue(on: LedgerState, now: number): void;
  /** Writes a snapshot if the last one is outdated. */
  save(): Promise<void>;
}

export function createLedgerSnapshots(
  tenantId: TenantId,
  progress: Readonly<Progress>,
  { snapshots, clock, logger }: LedgerSnapshotsDeps,
): LedgerSnapshots {
  let saved = { seq: progress.seq, at: clock(), applied: progress.applied };
  let saving: Promise<void> | undefined;

  async function save(): Promise<void> {
    while (saving !== undefined) await saving.catch(() => undefined);
    if (progress.ledger === undefined || progress.seq === saved.seq) return;
    saving = write(progress.ledger).finally(() => {
      saving = undefined;
    });
    await saving;
  }

  async function write(ledger: LedgerState): Promise<void> {
    const before = saved;
    const { seq, applied } = progress;
    saved = { seq, at: clock(), applied };
    try {
      await snapshots.save(tenantId, { seq, ledger });
    } catch (error) {
      saved = before;
      throw error;
    }
  }

  return {
    loaded() {
      saved = { seq: progress.seq, at: clock(), applied: progress.applied };
    },
    saveIfDue(on, now) {
      const { seq, applied } = progress;
      const isLong =
        seq - saved.seq >= SNAPSHOT_ENTRIES && applied - saved.applied >= on.holdCount / 2 + on.accountTotal / 8;
      if (saving === undefined && (isLong || now - saved.at >= SNAPSHOT_MS)) {
        save().catch((err: unknown) => logger.warn({ err, tenant_id: tenantId }, 'a snapshot could not be written'));
      }
    },
    save,
  };
}
