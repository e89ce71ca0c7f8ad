import type { Submit } from '../domain/decision.ts';
import type { Clock, TenantId } from '@tollkeeper/kernel';
import { type Component, createSparingWarner, type Metrics } from '@tollkeeper/runtime';
import { inexactSince } from '../domain/metering.ts';
import { createLedgerMemory, type LedgerMemory } from './ledger.memory.ts';
import { createLedgerMetrics } from './ledger.metrics.ts';
import { createWorkspaceLedger, type WorkspaceLedger, type WorkspaceLedgerDeps } from './workspace.ledger.ts';

/** How often due holds are ended without a request, and idle ledgers are evicted. */
const SWEEP_MS = 5_000;
/** Workspaces processed in parallel, so that one that hangs does not delay the others. */
const AT_ONCE = 16;
/** A ledger without requests for this long is evicted. */
const IDLE_MS = 600_000;
/** Maximum number of ledgers in memory. Beyond it, the least recently used one is evicted early. */
const MAX_LEDGERS = 10_000;

/** The ledgers in the memory of this replica. */
export interface Ledgers extends Component {
  submit: Submit;
}

export interface LedgersDeps extends Omit<WorkspaceLedgerDeps, 'metrics' | 'memory'> {
  /** Memory for all ledgers together. The least recently used ones are evicted for new ones. */
  budgetBytes: number;
  metrics: Metrics;
}

interface LoadedLedger {
  ledger: WorkspaceLedger;
  /** Epoch milliseconds. */
  usedAt: number;
}

export function createLedgers({ budgetBytes, metrics, now, ...deps }: LedgersDeps): Ledgers {
  const { clock, logger } = deps;
  const warn = createSparingWarner(logger, now, 'the periodic check of the reservations of a workspace failed');
  const warnOfStop = createSparingWarner(logger, now, 'a snapshot could not be written at shutdown');
  const warnOfMemory = createSparingWarner(logger, now, 'a ledger could not be unloaded from memory');
  const memory = createLedgerMemory({
    budgetBytes,
    letGo: async (tenantId) => {
      const known = loaded.get(tenantId);
      if (known !== undefined) await letGo(tenantId, known.ledger);
    },
    onFailure: (tenant_id, err) => warnOfMemory({ err, tenant_id }),
  });
  const ledgerDeps = { ...deps, now, memory, metrics: createLedgerMetrics(metrics) };
  /** In the order of last use. */
  const loaded = new Map<TenantId, LoadedLedger>();
  let timer: NodeJS.Timeout | undefined;
  observeLedgers(metrics, { loaded, memory, clock });

  async function sweep(): Promise<void> {
    await inTurns([...loaded], ([tenantId, { ledger, usedAt }]) => lookThrough(tenantId, ledger, usedAt));
    timer?.refresh();
  }

  async function lookThrough(tenantId: TenantId, ledger: WorkspaceLedger, usedAt: number): Promise<void> {
    try {
      await ledger.endDueHolds();
      if (clock() - usedAt < IDLE_MS && loaded.size <= MAX_LEDGERS) return;
      await letGo(tenantId, ledger);
    } catch (err) {
      warn({ err, tenant_id: tenantId });
    }
  }

  async function letGo(tenantId: TenantId, ledger: WorkspaceLedger): Promise<void> {
    const isLoaded = (): boolean => loaded.get(tenantId)?.ledger === ledger;
    if (!isLoaded()) return;
    await ledger.letGo();
    // Kept if it was asked meanwhile: a second ledger of the workspace would only lose races against this one.
    if (ledger.isIdle && isLoaded()) loaded.delete(tenantId);
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
      await inTurns([...loaded], ([tenant_id, { ledger }]) =>
        // The journal is complete: a snapshot only saves time.
        ledger.saveSnapshot().catch((err: unknown) => warnOfStop({ err, tenant_id })),
      );
    },
  };
}

function observeLedgers(
  metrics: Metrics,
  of: { loaded: ReadonlyMap<TenantId, LoadedLedger>; memory: LedgerMemory; clock: Clock },
): void {
  const all = () => [...of.loaded.values()].flatMap(({ ledger: { loaded } }) => loaded ?? []);
  const gauge = (name: string, help: string, value: () => number) =>
    metrics.gauge({
      name,
      help,
      collect() {
        this.set(value());
      },
    });
  gauge('enforcer_loaded_workspaces', 'Workspaces whose ledger is in memory', () => of.loaded.size);
  gauge('enforcer_ledger_bytes', 'Approximate size of the ledgers in memory, in bytes', () => of.memory.bytes);
  gauge('enforcer_open_reservations', 'Open reservations of the workspaces in memory', () =>
    all().reduce((sum, { holdCount, leases }) => sum + holdCount - leases.count, 0),
  );
  gauge('enforcer_open_leases', 'Open leases of the workspaces in memory', () =>
    all().reduce((sum, { leases }) => sum + leases.count, 0),
  );
  gauge('enforcer_lease_unused_micros', 'USD micros that open leases of the workspaces in memory still hold', () =>
    all().reduce((sum, { leases }) => sum + leases.leftMicros, 0),
  );
  gauge(
    'enforcer_filling_oldest_seconds',
    'How long the oldest budget of the workspaces in memory has been filling; 0 if none is',
    () => {
      const now = of.clock();
      return all().reduce((oldest, { metering }) => Math.max(oldest, now - (inexactSince(metering) ?? now)), 0) / 1000;
    },
  );
}

async function inTurns<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await each(item);
    }),
  );
}
