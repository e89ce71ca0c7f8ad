import { type BudgetScope, dailyBudgetOf, invalidRequest } from '@tollkeeper/contracts';
import { type Clock, comparedSpan, monthAt, monthSpan, type TenantId, type TimeSpan } from '@tollkeeper/kernel';
import { type Breakdown, type GroupKey, type Grouping, HAS_DISPLAY_NAME, MAX_GROUPS } from './breakdown.ts';
import {
  type BudgetList,
  type InTurn,
  type LimitingBudget,
  type SelectedSpend,
  selectSpend,
  type UnknownSpend,
} from './budget.spend.ts';
import type { Directory } from './directory.ts';
import type { BlockedReason, EventReader } from './event.reader.ts';
import { isPartly, limitsOver } from './month.limit.ts';
import type { Reads } from './reads.ts';
import { type Tallies, WHOLE_WORKSPACE } from './tallies.ts';
import type { Tally } from './tally.ts';
import { first } from './top.ts';
import type { TrackedLabels } from './tracked-labels.ts';

/** Most rows of a table, so that a statement is one sheet of paper. */
export const STATEMENT_ROWS = 8;

interface Spend {
  micros: number;
  /** In the span that the month is compared with. */
  previousMicros: number;
}

/** The groups that spent most. Together with the others, they are all spend. */
export interface StatementTable {
  /** `plan`, `agent`, or `label:` and the name of a tracked label. */
  by: string;
  rows: (Spend & { key: GroupKey; name?: string })[];
  others: (Spend & { count: number }) | null;
}

export interface StatementBudget extends Pick<LimitingBudget, 'id' | 'name' | 'each' | 'limitMicros' | 'period'> {
  /** What the limit comes to over the month; null if the kind of its period is not known. */
  monthMicros: number | null;
  /** With `each`, the value that spent most, and the number of values with spend. */
  value: string | null;
  values: number | null;
  /** What was spent in the month, with `each` by the value; null if it is not known. */
  spentMicros: number | null;
  unknown: UnknownSpend | 'part_of_month' | null;
}

/** A raise that was granted in the month. */
interface GrantedRaise {
  raiseId: string;
  budgetId: string;
  budgetName: string;
  value: string | null;
  extraMicros: number;
  askedBy: string;
  grantedBy: string;
  grantedAt: number;
  until: number;
}

/** Raises, those of the largest amounts first, and the number and sum of all that were granted in the span. */
interface GrantedRaises {
  largest: GrantedRaise[];
  count: number;
  micros: number;
}

/** Reads raises from the budgets service. Rejects while it does not answer. */
export type RaisesGranted = (tenantId: TenantId, span: TimeSpan, max: number) => Promise<GrantedRaises>;

/** What a workspace spent in a month of its calendar, and what limited it. */
export interface Statement {
  /** Such as `2026-11`. */
  month: string;
  timezone: string;
  /** The month, up to now while it is running. */
  span: TimeSpan;
  isComplete: boolean;
  /** The month before; while the month is running, up to the same day and time. */
  previousSpan: TimeSpan;
  total: Tally;
  previous: Tally;
  /** By plan, by agent, and by each tracked label. */
  tables: StatementTable[];
  /** Those that used most of their limits, as the budgets are now, and the number of further ones. */
  budgets: { rows: StatementBudget[]; others: number };
  raises: GrantedRaises;
  /** What blocked most calls, and how many calls anything else blocked. */
  blocked: { rows: BlockedReason[]; others: number };
}

export interface Statements {
  /**
   * The statement of a month such as `2026-11`, or of the last one that has ended. It has every call that was accepted
   * before. Rejects with `invalid_request` for a month that has not begun or was removed, and with
   * `service_unavailable` or `rate_limited` if it cannot be complete now.
   */
  of(tenantId: TenantId, month: string | undefined, signal: AbortSignal): Promise<Statement>;
}

export interface StatementDeps {
  reads: Reads;
  tallies: Tallies;
  events: Pick<EventReader, 'blockedReasons'>;
  budgetList: BudgetList;
  raisesGranted: RaisesGranted;
  directory: Directory;
  trackedLabels: TrackedLabels;
  /** Resolves once all events of the workspace are counted that the log has now. */
  counted(tenantId: TenantId): Promise<void>;
  clock: Clock;
  /** How long roll-ups are kept. */
  rollupSeconds: number;
}

export function createStatements(deps: StatementDeps): Statements {
  const { reads, tallies, events, budgetList, raisesGranted, directory, trackedLabels, clock } = deps;

  return {
    async of(tenantId, asked, signal) {
      const timezone = await directory.timezone(tenantId);
      const now = clock();
      const spans = spansOf(asked ?? monthAt(now, timezone, 1), timezone, now, now - deps.rollupSeconds * 1000);
      const { month, span, previousSpan } = spans;
      const [tracked, limiting, raises] = await Promise.all([
        trackedLabels.of(tenantId),
        budgetList.of(tenantId),
        raisesGranted(tenantId, span, STATEMENT_ROWS),
        deps.counted(tenantId),
      ]);
      const read = [previousSpan, { start: previousSpan.end, end: span.start }, span];
      const tables = new Map<string, StatementTable>();
      const inTurn: InTurn = (division, work) =>
        reads.run({ tenantId, kind: `statement by ${division}`, signal }, (meter) =>
          work({
            ofWorkspace: async () =>
              (await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, read, meter)).map(({ totalMicros }) => totalMicros),
            async by(grouping) {
              const breakdown = await tallies.breakdown(tenantId, grouping, read, MAX_GROUPS, meter);
              tables.set(division, await toTable(division, breakdown));
              return breakdown;
            },
          }),
        );
      const whole = { ...monthSpan(month, timezone), timezone };
      const budgets = await budgetsOf(limiting, tracked, inTurn, whole);
      const divisions: [string, Grouping][] = [
        ['plan', { by: 'plan' }],
        ['agent', { by: 'agent' }],
        ...tracked.map((name): [string, Grouping] => [`label:${name}`, { by: 'label', name }]),
      ];
      for (const [division, grouping] of divisions) {
        // The budgets may have read it already.
        if (!tables.has(division)) await inTurn(division, ({ by }) => by(grouping));
      }
      const { reasons, previous, total } = await reads.run({ tenantId, kind: 'statement', signal }, async (meter) => {
        // Before the totals, so that these have at least as many blocked calls.
        const found = await events.blockedReasons(tenantId, span, STATEMENT_ROWS);
        const [before, , current] = await tallies.ofSpans(tenantId, WHOLE_WORKSPACE, read, meter);
        return { reasons: found, previous: before!, total: current! };
      });
      const counted = reasons.reduce((sum, { calls }) => sum + calls, 0);
      const named = divisions.map(([division, { by }]) => ({
        table: tables.get(division)!,
        isNamed: HAS_DISPLAY_NAME[by],
      }));
      const ids = new Set([
        ...named.flatMap(({ table, isNamed }) => (isNamed ? idsIn(table) : [])),
        ...budgets.rows.flatMap(agentOf),
      ]);
      const names = await directory.displayNames(tenantId, [...ids]);
      return {
        ...{ timezone, ...spans, total, previous, raises },
        tables: named.map(({ table, isNamed }) => (isNamed ? withNames(table, names) : table)),
        budgets: { ...budgets, rows: budgets.rows.map((row) => ({ ...row, name: nameOf(row, names) })) },
        blocked: { rows: reasons, others: Math.max(0, total.budgetBlocked + total.guardBlocked - counted) },
      };
    },
  };
}

/** The spans of {@link Statement}. Throws `invalid_request` for a month that is not stored. */
function spansOf(month: string, timezone: string, now: number, rollupsFrom: number) {
  const { start, end } = monthSpan(month, timezone);
  if (start >= now) throw invalid('must be a month that has begun. Choose an earlier one');
  const isComplete = end <= now;
  const kind = isComplete ? 'last_month' : 'current_month';
  const span = { start, end: Math.min(end, now) };
  const previousSpan = comparedSpan({ kind, ...span, timezone });
  if (previousSpan.start < rollupsFrom) {
    const since = monthAt(rollupsFrom, timezone, -2);
    throw invalid(`must be ${since} or later, because the month or the one before it has been removed`);
  }
  return { month, span, previousSpan, isComplete };
}

function invalid(message: string) {
  return invalidRequest([{ path: 'month', message }], 1);
}

/** Index of the spans that are read. */
const [PREVIOUS, MONTH] = [0, 2] as const;

async function toTable(by: string, { groups, others }: Breakdown): Promise<StatementTable> {
  const all = groups
    .map(({ key, micros }) => ({ key, micros: micros[MONTH]!, previousMicros: micros[PREVIOUS]! }))
    .filter(({ micros, previousMicros }) => micros !== 0 || previousMicros !== 0);
  const rows = await first(all, STATEMENT_ROWS, bySpend);
  const further = { micros: others?.micros[MONTH] ?? 0, previousMicros: others?.micros[PREVIOUS] ?? 0 };
  const rest = { ...further, count: all.length - rows.length };
  for (const { micros, previousMicros } of all) {
    rest.micros += micros;
    rest.previousMicros += previousMicros;
  }
  for (const { micros, previousMicros } of rows) {
    rest.micros -= micros;
    rest.previousMicros -= previousMicros;
  }
  return { by, rows, others: rest.count > 0 || further.micros !== 0 || further.previousMicros !== 0 ? rest : null };
}

function bySpend(a: StatementTable['rows'][number], b: StatementTable['rows'][number]): number {
  return b.micros - a.micros || b.previousMicros - a.previousMicros || ((a.key ?? '') < (b.key ?? '') ? -1 : 1);
}

type Month = TimeSpan & { timezone: string };

async function budgetsOf(
  limiting: readonly LimitingBudget[],
  tracked: readonly string[],
  inTurn: InTurn,
  month: Month,
): Promise<Statement['budgets']> {
  const limitOf = limitsOver(month, month.timezone);
  const limits = limiting
    .map((budget) => {
      const { limitMicros, period } = budget;
      return { ...budget, monthMicros: period === null ? null : limitOf(limitMicros, period) };
    })
    // A budget that is for another time.
    .filter(({ monthMicros, limitMicros }) => monthMicros !== 0 || limitMicros === 0);
  const spent = await selectSpend(limits, tracked, inTurn, spentOf);
  const all = limits.map((budget, index): StatementBudget => {
    const { id, name, each, limitMicros, period, monthMicros } = budget;
    const found = spent[index]!;
    const unknown =
      period !== null && isPartly(month, period) ? 'part_of_month' : 'unknown' in found ? found.unknown : null;
    const known = unknown === null && 'spentMicros' in found ? found : { spentMicros: null, value: null, values: null };
    return { ...{ id, name, each, limitMicros, period, monthMicros, unknown }, ...known };
  });
  const rows = await first(all, STATEMENT_ROWS, byUse);
  return { rows, others: all.length - rows.length };
}

function spentOf(spend: SelectedSpend) {
  if ('micros' in spend) return { spentMicros: spend.micros[MONTH] ?? 0, value: null, values: null };
  let [most, values]: [{ value: string | null; micros: number }, number] = [{ value: null, micros: 0 }, 0];
  for (const { value, micros } of spend.values) {
    const ofMonth = micros[MONTH] ?? 0;
    if (ofMonth > 0) values += 1;
    if (ofMonth > most.micros) most = { value, micros: ofMonth };
  }
  return { spentMicros: most.micros, value: most.value, values };
}

/** Those that used most of their limits first; then those whose use is not known, the largest limits first. */
function byUse(a: StatementBudget, b: StatementBudget): number {
  return usedOf(b) - usedOf(a) || b.limitMicros - a.limitMicros || (a.id < b.id ? -1 : 1);
}

/** The part of the limit that was spent. Of a limit of 0, any spend is all. Negative if it is not known. */
export function usedOf({ spentMicros, monthMicros }: Pick<StatementBudget, 'spentMicros' | 'monthMicros'>): number {
  if (spentMicros === null || monthMicros === null) return -1;
  if (monthMicros === 0) return spentMicros === 0 ? 0 : 1;
  return spentMicros / monthMicros;
}

function idsIn({ rows }: StatementTable): string[] {
  return rows.flatMap(({ key }) => key || []);
}

function withNames(table: StatementTable, names: ReadonlyMap<string, string>): StatementTable {
  return {
    ...table,
    rows: table.rows.map((row) => ({ ...row, ...(row.key && { name: names.get(row.key) ?? row.key }) })),
  };
}

function nameOf(budget: StatementBudget, names: ReadonlyMap<string, string>): string {
  return agentOf(budget).map((id) => names.get(id))[0] ?? budget.name;
}

const AGENT_OF: Record<BudgetScope, (key: string) => string[]> = {
  workspace: () => [],
  agent: (agentId) => [agentId],
  plan: () => [],
};

/** The agent of a daily budget; none of other budgets. */
function agentOf({ id }: StatementBudget): string[] {
  const daily = dailyBudgetOf(id);
  return daily === null ? [] : AGENT_OF[daily.scope](daily.key);
}
