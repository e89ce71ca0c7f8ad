import type { TenantId } from '@tollkeeper/kernel';
import { type Component, createSparingWarner, type Metrics } from '@tollkeeper/runtime';
import type { Submit } from '../domain/reservation.use-cases.ts';
import { createLedgerMetrics } from './ledger.metrics.ts';
import { createWorkspaceLedger, type WorkspaceLedger, type WorkspaceLedgerDeps } from './workspace.ledger.ts';

/** How often holds that nobody asks about are ended, and idle ledgers are let go. */
const SWEEP_MS = 5_000;
/** Workspaces that are looked through at a time, so that one that hangs does not keep the others waiting. */
const SWEEP_AT_ONCE = 16;
/** A ledger that nobody has asked about for this long leaves memory. */
const IDLE_MS = 600_000;
/** Most ledgers in memory. Beyond it, the one that was asked about least recently leaves early. */
const MAX_LEDGERS = 10_000;

/** The ledgers that this replica works on. */
export interface Ledgers extends Component {
  submit: Submit;
}

export interface LedgersDeps extends Omit<WorkspaceLedgerDeps, 'metrics'> {
  metrics: Metrics;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

export function createLedgers({ metrics, now, ...deps }: LedgersDeps): Ledgers {
  const { clock, logger } = deps;
  const warn = createSparingWarner(logger, now, 'the holds of a workspace could not be looked through');
  const ledgerDeps = { ...deps, metrics: createLedgerMetrics(metrics) };
  /** In the order of their last use. */
  const loaded = new Map<TenantId, { ledger: WorkspaceLedger; usedAt: number }>();
  let timer: NodeJS.Timeout | undefined;
  metrics.gauge({
    name: 'enforcer_loaded_workspaces',
    help: 'Workspaces whose ledger this replica has in memory',
    collect() {
      this.set(loaded.size);
    },
  });
  metrics.gauge({
    name: 'enforcer_open_reservations',
    help: 'Reservations that are held, of the workspaces that this replica has in memory',
    collect() {
      this.set([...loaded.values()].reduce((sum, { ledger }) => sum + ledger.openReservations, 0));
    },
  });

  async function sweep(): Promise<void> {
    const workspaces = [...loaded].values();
    await Promise.all(
      Array.from({ length: SWEEP_AT_ONCE }, async () => {
        for (const [tenantId, { ledger, usedAt }] of workspaces) await lookThrough(tenantId, ledger, usedAt);
      }),
    );
    timer?.refresh();
  }

  async function lookThrough(tenantId: TenantId, ledger: WorkspaceLedger, usedAt: number): Promise<void> {
    try {
      await ledger.endDueHolds();
      if (clock() - usedAt < IDLE_MS && loaded.size <= MAX_LEDGERS) return;
      await ledger.saveSnapshot();
      // It may have been asked meanwhile. Another ledger of the workspace would only lose races against this one.
      if (ledger.isIdle) loaded.delete(tenantId);
    } catch (err) {
      warn({ err, tenant_id: tenantId });
    }
  }

  return {
    name: 'ledgers',
    submit(tenantId, ask) {
      const known = loaded.get(tenantId);
      const ledger = known?.ledger ?? createWorkspaceLedger(tenantId, ledgerDeps);
      loaded.delete(tenantId);
      loaded.set(tenantId, { ledger, usedAt: clock() });
      return ledger.submit(ask);
    },
    async start() {
      timer = setTimeout(() => void sweep(), SWEEP_MS);
      timer.unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      const saves = [...loaded.values()].map(({ ledger }) => ledger.saveSnapshot());
      for (const { status } of await Promise.allSettled(saves)) {
        // The journal has everything: a snapshot only saves time.
        if (status === 'rejected') logger.warn('a snapshot was not written at the stop');
      }
    },
  };
}
