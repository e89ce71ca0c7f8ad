import { AGENT_PROGRAMS, type AgentProgram } from '@tollkeeper/contracts';
import { mapInSlices, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { withCorrections } from './corrections.ts';
import type { DashboardEvent } from './event.ts';
import { createPlaces, LARGE_READS, type Reads } from './reads.ts';
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

export interface TwiceReports {
  /**
   * Programs of which another sender seems to report at least half of the calls, those with most such calls first. A
   * report seems to be of the same call if it has the same run, user or numbers of tokens within a minute. Reads the
   * first {@link MAX_COMPARED} settlements of the span, up to `readUntil`. Rejects with `rate_limited` when earlier
   * comparisons of the workspace take too long, and with the reason of `signal`.
   */
  find(tenantId: TenantId, span: TimeSpan, signal: AbortSignal): Promise<{ found: ReportedTwice[]; readUntil: number }>;
}

/** Two reports of the same call have times at most so far apart. */
const APART_MS = 60_000;
/** Settlements that are compared, and read at once. */
export const MAX_COMPARED = 20_000;
const READ_AT_ONCE = 2_000;
/** A comparison keeps up to 10 MB in memory. */
const COMPARISONS_AT_ONCE = 4;

/** What is kept of a settlement while it is compared. */
interface Report {
  time: number;
  agentId: string;
  /** Undefined for other senders. */
  program: AgentProgram | undefined;
  /** What all reports of a call have in common, or some of it. */
  keys: string[];
  /** The agents of other reports that seem to be of the same call. */
  alike: Set<string>;
}

export function createTwiceReports(deps: {
  reads: Reads;
  reader: SettlementReader;
  maxCompared?: number;
}): TwiceReports {
  const { reads, reader, maxCompared = MAX_COMPARED } = deps;
  // Each page also waits for its turn among all reads.
  const turns = createPlaces({ ...LARGE_READS, capacity: COMPARISONS_AT_ONCE });

  async function find(tenantId: TenantId, { start, end }: TimeSpan, signal: AbortSignal) {
    const reports: Report[] = [];
    let place: SettlementPlace | null = { time: start, after: '' };
    while (place !== null && reports.length < maxCompared) {
      const from: SettlementPlace = place;
      const { settlements, next } = await reads.run({ tenantId, kind: 'reported-twice', signal }, (meter) =>
        reader.settlementsFrom(tenantId, from, end, meter, Math.min(READ_AT_ONCE, maxCompared)),
      );
      reports.push(...(await mapInSlices(withCorrections(settlements), toReport)));
      place = next;
    }
    return { found: await compare(reports), readUntil: place?.time ?? end };
  }

  return { find: (tenantId, span, signal) => turns.run(tenantId, 1, () => find(tenantId, span, signal), signal) };
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
    for (const key of report.keys) {
      const other = last.get(key);
      if (report.program === undefined) last.set(key, report);
      else if (other !== undefined && Math.abs(other.time - report.time) <= APART_MS) report.alike.add(other.agentId);
    }
  });
}

function toReport({ time, data }: DashboardEvent): Report {
  const { settlement_id = '', agent_id: agentId = '', run_id, labels, input_tokens = 0, output_tokens = 0 } = data;
  const keys = [
    ...(run_id !== undefined ? [`run ${run_id}`] : []),
    ...(labels?.['user'] !== undefined ? [`user ${labels['user']}`] : []),
    ...(input_tokens > 0 && output_tokens > 0 ? [`tokens ${input_tokens} ${output_tokens}`] : []),
  ];
  return { time, agentId, program: programOf(settlement_id), keys, alike: new Set() };
}

function programOf(settlementId: string): AgentProgram | undefined {
  const programs = Object.keys(AGENT_PROGRAMS) as AgentProgram[];
  return programs.find((program) => settlementId.startsWith(AGENT_PROGRAMS[program]));
}
