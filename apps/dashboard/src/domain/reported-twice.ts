import { AGENT_PROGRAMS, type AgentProgram } from '@tollkeeper/contracts';
import { type Clock, mapInSlices, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { withCorrections } from './corrections.ts';
import type { DashboardEvent } from './event.ts';
import { createPlaces, isBusy, LARGE_READS, type Reads } from './reads.ts';
import type { SettlementReader } from './settlement.list.ts';
import type { SettlementPlace } from './settlement.page.ts';

/** A program whose calls another sender seems to report as well, so that both count. */
interface ReportedTwice {
  program: AgentProgram;
  /** The agents to which both reports belong. */
  agentId: string;
  otherAgentId: string;
  /** The calls of the program as this agent. */
  calls: number;
  /** Those of them that the other sender seems to report. */
  alike: number;
}

/** What {@link TwiceReports.find} found in the settlements from `start` to `end`. */
interface Comparison {
  found: ReportedTwice[];
  start: number;
  end: number;
}

export interface TwiceReports {
  /**
   * Programs of which another sender seems to report at least half of the calls, those with most such calls first. A
   * report seems to be of the same call if it has the same numbers of tokens within a minute, or the same run or user
   * if one of both has no tokens. Reads the newest settlements of the last hour, as many as it can in its time. Rejects
   * with `rate_limited` when other reads of the workspace take too long, and with the reason of `signal`.
   */
  find(tenantId: TenantId, signal: AbortSignal): Promise<Comparison>;
}

/** Two reports of the same call have times at most so far apart. */
const APART_MS = 60_000;
/** What is read: steps of the last hour, the newest first, until there are so many settlements, or for so long. */
const READ_BACK_MS = 3_600_000;
const STEP_MS = 300_000;
export const MAX_COMPARED = 20_000;
const READ_MS = 5_000;
const READ_AT_ONCE = 2_000;
/** A comparison keeps up to 10 MB in memory. */
const COMPARISONS_AT_ONCE = 4;

/** What is kept of a settlement while it is compared. */
interface Report {
  time: number;
  agentId: string;
  /** Undefined for other senders. */
  program: AgentProgram | undefined;
  /** Reports of others with one of these `foundBy` seem to be of the same call. */
  keys: string[];
  foundBy: string[];
  /** The agents of other reports that seem to be of the same call. */
  alike: Set<string>;
}

export function createTwiceReports(deps: {
  reads: Reads;
  reader: SettlementReader;
  clock: Clock;
  maxCompared?: number;
}): TwiceReports {
  const { reads, reader, clock, maxCompared = MAX_COMPARED } = deps;
  // Each page also waits for its turn among all reads.
  const turns = createPlaces({ ...LARGE_READS, capacity: COMPARISONS_AT_ONCE });

  async function find(tenantId: TenantId, signal: AbortSignal): Promise<Comparison> {
    const deadline = performance.now() + READ_MS;
    const steps: Report[][] = [];
    let end = clock();
    let start = end;
    let left = maxCompared;
    for (const first = end - READ_BACK_MS; start > first && left > 0 && performance.now() < deadline;) {
      const step = await readStep(
        tenantId,
        { start: start - STEP_MS, end: start },
        { left, deadline, isFirst: steps.length === 0, signal },
      );
      const isPart = step.readUntil < start;
      // Of the newest step, the part that was read is compared. A part of an earlier one would leave a gap.
      if (isPart && steps.length > 0) break;
      if (isPart) end = step.readUntil;
      steps.unshift(step.reports);
      start -= STEP_MS;
      left = isPart ? 0 : left - step.reports.length;
    }
    return { found: await compare(steps.flat()), start, end };
  }

  /** Reads until there are `left` settlements, for so long, and while other reads of the workspace are quick. */
  async function readStep(
    tenantId: TenantId,
    span: TimeSpan,
    { left, deadline, isFirst, signal }: { left: number; deadline: number; isFirst: boolean; signal: AbortSignal },
  ): Promise<{ reports: Report[]; readUntil: number }> {
    const reports: Report[] = [];
    for (let from: SettlementPlace = { time: span.start, after: '' }; ;) {
      const place = from;
      const page = await reads
        .run({ tenantId, kind: 'reported-twice', signal }, (meter) =>
          reader.settlementsFrom(tenantId, place, span.end, meter, Math.min(READ_AT_ONCE, left)),
        )
        .catch((error: unknown) => {
          if (isBusy(error) && (!isFirst || place.time > span.start)) return null;
          throw error;
        });
      if (page === null) return { reports, readUntil: place.time };
      reports.push(...(await mapInSlices(withCorrections(page.settlements), toReport)));
      if (page.next === null) return { reports, readUntil: span.end };
      from = page.next;
      if (reports.length >= left || performance.now() >= deadline) return { reports, readUntil: from.time };
    }
  }

  return { find: (tenantId, signal) => turns.run(tenantId, 1, () => find(tenantId, signal), signal) };
}

async function compare(reports: readonly Report[]): Promise<ReportedTwice[]> {
  if (reports.every(({ program }) => program === undefined)) return [];
  await compareWithEarlier(reports);
  await compareWithEarlier(reports.toReversed());
  const pairs = new Map<string, ReportedTwice>();
  const calls = new Map<string, number>();
  for (const { program, agentId, alike } of reports) {
    if (program === undefined) continue;
    calls.set(`${program} ${agentId}`, (calls.get(`${program} ${agentId}`) ?? 0) + 1);
    for (const otherAgentId of alike) {
      const key = JSON.stringify([program, agentId, otherAgentId]);
      const pair = pairs.get(key) ?? { program, agentId, otherAgentId, calls: 0, alike: 0 };
      pair.alike += 1;
      pairs.set(key, pair);
    }
  }
  return [...pairs.values()]
    .map((pair) => ({ ...pair, calls: calls.get(`${pair.program} ${pair.agentId}`)! }))
    .filter((pair) => 2 * pair.alike >= pair.calls)
    .sort((a, b) => b.alike - a.alike);
}

/** Adds to each call of a program the agent of the last report of another sender that seems to be of this call. */
async function compareWithEarlier(reports: readonly Report[]): Promise<void> {
  const last = new Map<string, Report>();
  await mapInSlices(reports, (report) => {
    if (report.program === undefined) {
      for (const key of report.foundBy) last.set(key, report);
      return;
    }
    for (const key of report.keys) {
      const other = last.get(key);
      if (other !== undefined && Math.abs(other.time - report.time) <= APART_MS) report.alike.add(other.agentId);
    }
  });
}

function toReport({ time, data }: DashboardEvent): Report {
  const { settlement_id = '', agent_id: agentId = '', run_id, labels, input_tokens = 0, output_tokens = 0 } = data;
  const hasTokens = input_tokens > 0 && output_tokens > 0;
  const tokens = hasTokens ? [`tokens ${input_tokens} ${output_tokens}`] : [];
  const context = [
    ...(run_id !== undefined ? [`run ${run_id}`] : []),
    ...(labels?.['user'] !== undefined ? [`user ${labels['user']}`] : []),
  ];
  // Two calls of a run or user with other tokens are two calls.
  const ofAny = context.map((key) => `${key}, with any tokens`);
  const ofNone = context.map((key) => `${key}, without tokens`);
  return {
    ...{ time, agentId, program: programOf(settlement_id), alike: new Set() },
    keys: [...tokens, ...(hasTokens ? ofNone : ofAny)],
    foundBy: [...tokens, ...ofAny, ...(hasTokens ? [] : ofNone)],
  };
}

function programOf(settlementId: string): AgentProgram | undefined {
  const programs = Object.keys(AGENT_PROGRAMS) as AgentProgram[];
  return programs.find((program) => settlementId.startsWith(AGENT_PROGRAMS[program]));
}
