import type { REPORT_OUTCOMES, REPORT_PRICED_BY } from '@tollkeeper/contracts';
import type { Clock, TenantId } from '@tollkeeper/kernel';

/** What ingest understood of one report of a workspace. */
export interface Report {
  id: string;
  /** The workspace key that it came with. */
  keyId: string;
  /** Epoch milliseconds. */
  receivedMs: number;
  path: string;
  /** Number of spans, log entries or objects. */
  records: number;
  calls: number;
  firstCalls: readonly ReportedCall[];
  notCalls: readonly { reason: string; records: number }[];
  /** Why nothing was taken; empty if it was taken. */
  refusal: string;
}

export interface ReportedCall {
  outcome: ReportOutcome;
  agentId: string;
  /** Undefined if no cost and no price is known. */
  amountMicros?: number | undefined;
  pricedBy: (typeof REPORT_PRICED_BY)[number] | '';
  facts: readonly { fact: string; name: string; value: string }[];
}

type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** Reports of a workspace that are kept: the last ones. */
export const MAX_REPORTS = 20;
/** How long reports are kept after somebody looked. */
const WATCHED_MS = 60_000;

export interface ReportStore {
  /** The reports of a workspace, newest first, and keeps those that come until `watchedUntil`. */
  watch(tenantId: TenantId, watchedUntil: Date): Promise<readonly Report[]>;
  /** Whether reports of the workspace are kept at that time. */
  isWatched(tenantId: TenantId, at: Date): Promise<boolean>;
  /** Adds a report if they are kept at that time and it is new. Drops all but the last {@link MAX_REPORTS}. */
  keep(tenantId: TenantId, report: Report, at: Date): Promise<void>;
}

/** Shows people who connect a gateway what arrives. */
export interface ReportUseCases {
  /** The last reports, newest first. Those of the next minute are kept. */
  watch(tenantId: TenantId): Promise<readonly Report[]>;
  isWatched(tenantId: TenantId): Promise<boolean>;
  /** Drops the report if nobody has looked within a minute. */
  keep(tenantId: TenantId, report: Report): Promise<void>;
}

export function createReportUseCases({ store, clock }: { store: ReportStore; clock: Clock }): ReportUseCases {
  return {
    watch: (tenantId) => store.watch(tenantId, new Date(clock() + WATCHED_MS)),
    isWatched: (tenantId) => store.isWatched(tenantId, new Date(clock())),
    keep: (tenantId, report) => store.keep(tenantId, report, new Date(clock())),
  };
}
