import type { KeysServiceDefinition, ReportContent } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { newId, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { VerifiedKey } from './verified-key.ts';

/** Of each workspace, so many reports at once after a pause, and then so many a second: more than people read. */
const BURST = 20;
const PER_SECOND = 2;
const MAX_WORKSPACES = 1_000;
/** Most reports on their way to keys. Those that come meanwhile are not shown. */
const MAX_IN_FLIGHT = 32;

/** `keyId` is undefined for what is reported without a key. */
type Reporter = Pick<VerifiedKey, 'tenantId'> & { keyId: string | undefined };

interface ReportKeeperDeps {
  keys: Pick<GrpcClient<KeysServiceDefinition>, 'keepReport'>;
  /** Epoch milliseconds. */
  clock: () => number;
  /** Monotonic milliseconds. */
  now: () => number;
  logger: Logger;
}

/** Sends reports to keys, which shows them to people. Never waits or throws: a report more or less is no loss. */
export function createReportKeeper({ keys, clock, now, logger }: ReportKeeperDeps) {
  const allowances = new Map<TenantId, { left: number; at: number }>();
  let inFlight = 0;

  function isAllowed(tenantId: TenantId): boolean {
    const at = now();
    const last = allowances.get(tenantId) ?? { left: BURST, at };
    const left = Math.min(BURST, last.left + ((at - last.at) / 1_000) * PER_SECOND);
    const may = left >= 1 && inFlight < MAX_IN_FLIGHT;
    // Those that are forgotten begin with a full allowance.
    if (allowances.size >= MAX_WORKSPACES && !allowances.has(tenantId)) allowances.clear();
    allowances.set(tenantId, { left: may ? left - 1 : left, at });
    return may;
  }

  return ({ tenantId, keyId }: Reporter, path: string, report: ReportContent): void => {
    // People connect senders by keys.
    if (keyId === undefined || !isAllowed(tenantId)) return;
    inFlight += 1;
    void keys
      .keepReport({ ...report, tenantId, reportId: newId('rep'), keyId, path, receivedMs: clock() })
      .catch((err: unknown) => logger.warn({ err, tenant_id: tenantId }, 'a report could not be shown'))
      .finally(() => (inFlight -= 1));
  };
}
