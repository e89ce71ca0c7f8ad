import { AppError, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { type DIMENSIONS, type GroupKey, type Grouping, MAX_GROUPS } from './breakdown.ts';
import { withCorrections } from './corrections.ts';
import type { DashboardEvent } from './event.ts';
import { OTHER } from './names.ts';
import { isBusy, type ReadMeter, type Reads } from './reads.ts';
import type { SettlementReader } from './settlement.list.ts';
import type { SettlementPage, SettlementPlace } from './settlement.page.ts';
import type { Subject, Tallies } from './tallies.ts';
import type { SpendTally } from './tally.ts';

/** What was spent on a local day: all of it, or by one group. */
export interface DayRow {
  day: TimeSpan;
  /** Absent for all spend of the day. `OTHER` for all groups that are not kept apart. */
  key?: GroupKey;
  tally: SpendTally;
}

/** Which files there are, and how they are named. */
export const EXPORT_FORMATS = {
  csv: { type: 'text/csv; charset=utf-8; header=present', extension: 'csv' },
  ndjson: { type: 'application/x-ndjson; charset=utf-8', extension: 'ndjson' },
  focus: { type: 'text/csv; charset=utf-8; header=present', extension: 'focus.csv' },
} as const;
export type ExportFormat = keyof typeof EXPORT_FORMATS;

/** Rows for single calls, beside those for groups of a day. */
export const EXPORTED_CALLS = 'call';
/** What the rows of a file are for. */
export type ExportGroupBy = (typeof DIMENSIONS)[number] | typeof EXPORTED_CALLS | `label:${string}`;

export interface ExportRequest {
  tenantId: TenantId;
  span: TimeSpan;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/**
 * Reads spend in pages, each when its client has taken the one before, so the memory of an export does not depend on
 * its length. Each page takes its turn among the reads of all workspaces. The first page waits until all events of the
 * workspace are counted that the log had before the export.
 *
 * Rejects with `rate_limited` while another export of the workspace is in progress, and with the reason of the signal.
 */
export interface Exports {
  /** The spend of `days`, which follow one another without gap or overlap: all of it, or that of a label. */
  days(request: ExportRequest, subject: Subject, days: TimeSpan[]): AsyncGenerator<DayRow[]>;
  /** The spend of `days`, divided. The rows of a day add up to its spend. */
  groups(request: ExportRequest, by: Grouping, days: TimeSpan[]): AsyncGenerator<DayRow[]>;
  /** Settled calls by time, with their last corrections. */
  calls(request: ExportRequest): AsyncGenerator<DashboardEvent[]>;
}

/** Exports in progress per process. Each holds a page or two in memory. */
const MAX_EXPORTS = 8;
/** No client is read for so long. It must take less than this for the whole export. */
const MAX_MS = 4 * 3_600_000;
/** Calls of a page, which is as many as four full chunks have. */
const PAGE = 4_000;
/** How often a page waits for its turn: each time for 10 s, and the gateway for 30 s. */
const TRIES = 2;
const MAX_RETRY_AFTER_SECONDS = 600;

interface InProgress {
  startedAt: number;
  /** The part that has been read, from 0 to 1. */
  part: number;
}

export interface ExportsDeps {
  reads: Reads;
  tallies: Tallies;
  reader: SettlementReader;
  /** Resolves once all events of the workspace are counted that the log has now. */
  counted(tenantId: TenantId): Promise<void>;
}

export function createExports({ reads, tallies, reader, counted }: ExportsDeps, page = PAGE): Exports {
  const inProgress = new Map<TenantId, InProgress>();

  function enter(tenantId: TenantId): InProgress {
    const own = inProgress.get(tenantId);
    if (own !== undefined) throw inTheWay('Another export of this workspace is in progress.', secondsLeft(own));
    if (inProgress.size >= MAX_EXPORTS) {
      throw inTheWay('Too many exports are in progress.', Math.min(...[...inProgress.values()].map(secondsLeft)));
    }
    const entered = { startedAt: performance.now(), part: 0 };
    inProgress.set(tenantId, entered);
    return entered;
  }

  /** The pages of `read`, which says after each one until when it has read. */
  async function* inPages<Page>(
    { tenantId, span }: ExportRequest,
    read: () => AsyncGenerator<{ page: Page; until: number }>,
  ): AsyncGenerator<Page> {
    const own = enter(tenantId);
    try {
      await counted(tenantId);
      for await (const { page, until } of read()) {
        own.part = (until - span.start) / (span.end - span.start);
        if (performance.now() - own.startedAt > MAX_MS) throw tooLong();
        yield page;
      }
    } finally {
      inProgress.delete(tenantId);
    }
  }

  /** A page that is in the middle of a file tries again while other reads of its workspace take long. */
  async function patiently<T>(
    { tenantId, signal }: ExportRequest,
    kind: string,
    work: (meter: ReadMeter) => Promise<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await reads.run({ tenantId, kind: `export of ${kind}`, signal }, work);
      } catch (error) {
        if (!isBusy(error) || tries === TRIES) throw error;
      }
    }
  }

  return {
    days: (request, subject, days) =>
      inPages(request, async function* () {
        const sums = await patiently(request, subject.scope, (meter) =>
          tallies.ofSpans(request.tenantId, subject, days, meter),
        );
        yield { page: days.map((day, index) => ({ day, tally: sums[index]! })), until: request.span.end };
      }),
    groups: (request, by, days) =>
      inPages(request, async function* () {
        for (const day of days) {
          const { groups, others } = await patiently(request, by.by, (meter) =>
            tallies.breakdown(request.tenantId, by, [day], MAX_GROUPS, meter),
          );
          const page: DayRow[] = groups.map(({ key, total }) => ({ day, key, tally: total }));
          if (others !== undefined) page.push({ day, key: OTHER, tally: others.total });
          yield { page, until: day.end };
        }
      }),
    calls: (request) =>
      inPages(request, async function* () {
        const { tenantId, span } = request;
        for (let place: SettlementPlace | null = { time: span.start, after: '' }; place !== null;) {
          const from: SettlementPlace = place;
          const { settlements, next }: SettlementPage = await patiently(request, 'calls', (meter) =>
            reader.settlementsFrom(tenantId, from, span.end, meter, page),
          );
          yield { page: withCorrections(settlements), until: next?.time ?? span.end };
          place = next;
        }
      }),
  };
}

/** How long an export will take at its pace so far. */
function secondsLeft({ startedAt, part }: InProgress): number {
  const seconds = (performance.now() - startedAt) / 1_000;
  const left = part === 0 ? MAX_RETRY_AFTER_SECONDS : (seconds * (1 - part)) / part;
  return Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(1, Math.ceil(left)));
}

function inTheWay(what: string, retryAfterSeconds: number): AppError {
  const message = `${what} Wait until it has finished, in about ${retryAfterSeconds} s, or end it.`;
  return new AppError('rate_limited', message, { retryAfterSeconds });
}

function tooLong(): AppError {
  return new AppError('service_unavailable', 'The export took longer than 4 hours. Export a shorter span.');
}
