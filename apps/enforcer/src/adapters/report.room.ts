import { AppError, createTurns, type TenantId } from '@tollkeeper/kernel';
import { createWorkspaceQuota, type WorkspaceQuotaDeps } from '@tollkeeper/workspace-keys';
import { forReport, REPORT_MS } from '../domain/answer.time.ts';

/** Bytes of messages that are taken of a workspace: as many as its quota of calls needs. */
const BYTES = { perSecond: 2_000_000, burst: 8_000_000 };
/** What each message counts at least. */
const LEAST_BYTES = 1_000;
/** Messages of a workspace that are taken at a time. The others wait, and their streams are not read meanwhile. */
const AT_ONCE = 2;
/** Bytes, and number, of the messages of a workspace in memory. */
const MOST = { bytes: 8 * 1024 * 1024, waiting: 1_000 };

export interface ReportRoom {
  /**
   * Does `work` for a message when it is the turn of its workspace and its bytes fit into the quota. Rejects with
   * `rate_limited` without doing it, if that takes too long, or at once if too much of the workspace waits.
   */
  run(message: { tenantId: TenantId; bytes: number; deadline: number }, work: () => Promise<void>): Promise<void>;
}

/** Bounds what the reports of a workspace take of the process, so that all other workspaces are decided in time. */
export function createReportRoom(deps: Pick<WorkspaceQuotaDeps, 'refused' | 'logger' | 'now'>): ReportRoom {
  const quota = createWorkspaceQuota({
    ...BYTES,
    refusal: `The gateways of a workspace may report ${BYTES.perSecond / 1e6} MB of access logs a second.`,
    warning: 'a workspace reports more bytes of access logs than it may, so its gateways wait: let them log less',
    ...deps,
  });
  const held = new Map<TenantId, number>();
  const waiting = { ofSender: MOST.waiting, ms: REPORT_MS, refusal: isFull };
  const turns = createTurns({ capacity: Infinity, ofSender: AT_ONCE, waiting });

  function hold(tenantId: TenantId, bytes: number): void {
    const all = (held.get(tenantId) ?? 0) + bytes;
    if (all > 0) held.set(tenantId, all);
    else held.delete(tenantId);
  }

  return {
    async run({ tenantId, bytes, deadline }, work) {
      if ((held.get(tenantId) ?? 0) + bytes > MOST.bytes) throw isFull();
      hold(tenantId, bytes);
      try {
        await turns.run(tenantId, 1, async () => {
          await forReport(deadline, async () => quota.admit(tenantId, Math.max(bytes, LEAST_BYTES)));
          await work();
        });
      } finally {
        hold(tenantId, -bytes);
      }
    },
  };
}

function isFull(): AppError {
  const message = 'Too much of the access logs of the workspace waits. Log fewer requests, headers and metadata.';
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
