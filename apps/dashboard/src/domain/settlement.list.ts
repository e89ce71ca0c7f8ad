import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { ReadMeter, Reads } from './reads.ts';
import type { SettlementPage, SettlementPlace } from './settlement.page.ts';

/** Reads stored settlements. No method returns those of another workspace. */
export interface SettlementReader {
  /**
   * The first settlements from `from` on whose time is before `until`, at most `atMost` if given. A page may be
   * empty although others follow.
   */
  settlementsFrom(
    tenantId: TenantId,
    from: SettlementPlace,
    until: number,
    meter: ReadMeter,
    atMost?: number,
  ): Promise<SettlementPage>;
}

/** The settlements of a workspace, page by page. */
export interface SettlementList {
  /**
   * The first page, once all events of the workspace are stored that the log had before the call. Rejects with
   * `service_unavailable` if that takes too long.
   */
  first(tenantId: TenantId, span: { from: number; until: number }): Promise<SettlementPage>;
  next(tenantId: TenantId, from: SettlementPlace, until: number): Promise<SettlementPage>;
}

/** How long a read waits for events in the log. Most are stored within a second. */
const LOG_WAIT_MS = 5_000;
/** Far longer than a page takes. Nobody waits for it any more then. */
const READ_MS = 30_000;

const RETRY = { retryAfterSeconds: 1 };

/** Resolves once all events of the workspace are stored that the log has now. Rejects when `signal` aborts. */
type CaughtUp = (tenantId: TenantId, signal: AbortSignal) => Promise<void>;

/** As `caughtUp`, but rejects with `service_unavailable` if that takes longer than `waitMs`. */
export async function waitForLog(caughtUp: CaughtUp, tenantId: TenantId, waitMs = LOG_WAIT_MS): Promise<void> {
  const signal = AbortSignal.timeout(waitMs);
  await caughtUp(tenantId, signal).catch((cause: unknown) => {
    const message = 'The dashboard is still reading the event log. Try again shortly.';
    throw new AppError('service_unavailable', message, { ...RETRY, ...(!signal.aborted && { cause }) });
  });
}

export function createSettlementList(deps: {
  reader: SettlementReader;
  reads: Reads;
  caughtUp: CaughtUp;
  logWaitMs?: number;
}): SettlementList {
  const { reader, reads, caughtUp, logWaitMs } = deps;

  async function read(tenantId: TenantId, from: SettlementPlace, until: number): Promise<SettlementPage> {
    const signal = AbortSignal.timeout(READ_MS);
    try {
      return await reads.run({ tenantId, kind: 'settlements', signal }, (meter) =>
        reader.settlementsFrom(tenantId, from, until, meter),
      );
    } catch (error) {
      if (error !== signal.reason) throw error;
      throw new AppError('service_unavailable', 'Reading the settlements takes too long. Try again.', RETRY);
    }
  }

  return {
    async first(tenantId, { from, until }) {
      await waitForLog(caughtUp, tenantId, logWaitMs);
      return read(tenantId, { time: from, after: '' }, until);
    },
    next: read,
  };
}
