import type { TenantId } from '@tollkeeper/kernel';
import { isSpend, type DashboardEvent } from './event.ts';
import { GRAIN_MS, type Grain } from './grain.ts';
import type { RunStart } from './run.ts';
import { addTally, emptyTally, tallyOf, type Tally } from './tally.ts';

/**
 * The spans of UTC that have roll-ups. A roll-up cuts its span into slots: a day into hours, an hour into minutes for
 * the workspace and into quarters for its agents, plans and labels.
 */
export const PERIODS = ['day', 'hour'] as const;
export type Period = (typeof PERIODS)[number];

/** What a slot counts: everything in the workspace, or a row: an agent, a plan, or a value of a label. */
export type Level = 'workspace' | 'rows';

export const PERIOD_MS: Record<Period, number> = { day: 86_400_000, hour: 3_600_000 };

const SLOT_MS: Record<Period, Record<Level, number>> = {
  day: { workspace: 3_600_000, rows: 3_600_000 },
  hour: { workspace: 60_000, rows: 900_000 },
};

/**
 * The slot of a day that counts the whole day of a row, beside its hours. Plans and labels have it first in their rows.
 * Agents have it in separate rows, because all agents over three months are the most that a query reads.
 */
export const WHOLE_DAY = 24;
/** Whether the roll-ups of a period have {@link WHOLE_DAY}. */
export const HAS_WHOLE_DAY: Record<Period, boolean> = { day: true, hour: false };

/**
 * The rows of a roll-up: `agents` by hour or quarter of an hour; `days`, agents by whole day, only in a day; and
 * `plans` and `labels` with all of these slots.
 */
export const ROW_KINDS = ['agents', 'days', 'plans', 'labels'] as const;
export type RowKind = (typeof ROW_KINDS)[number];

/** The kind of agent rows from which a piece of `grain` is read. */
export function rowKindOf(grain: Grain): 'agents' | 'days' {
  return grain === '1d' ? 'days' : 'agents';
}

/** The period of the roll-ups that contain pieces of that length. */
export const PERIOD_OF: Record<Grain, Period> = { '1d': 'day', '1h': 'day', '15m': 'hour', '1m': 'hour' };

/** One roll-up of a workspace. */
export interface RollupKey {
  tenantId: TenantId;
  period: Period;
  /** Epoch milliseconds. */
  start: number;
}

/** The content of a slot of the workspace. */
export interface WorkspaceSlot {
  tally: Tally;
  /**
   * Runs whose first event lies in the slot. An added value is negative when a late event moved the start of a run to
   * another slot.
   */
  runsStarted: number;
}

/**
 * What an agent did, what was settled under a plan, or the events with a value of a label. Each event is in one row of
 * agents, so the rows of an agent add up to all it did. Rows with a `model` count its settlements: those of a named
 * model, or those that name none (null). The row without `model` counts the events that settle nothing. Plans are not
 * divided by model. In rows of labels, the value of the label is in place of the model.
 */
export interface Row {
  /** The agent, the plan, or the label. */
  name: string;
  model: string | null | undefined;
  /** By slot number, from 0. */
  slots: Map<number, Tally>;
}

/** What a batch of events adds to one roll-up. */
export interface RollupDelta extends RollupKey {
  workspace: Map<number, WorkspaceSlot>;
  /** By {@link rowKey}, like all rows. */
  agents: Map<string, Row>;
  /** In a day: the same events, in the slot {@link WHOLE_DAY}. */
  days: Map<string, Row>;
  plans: Map<string, Row>;
  labels: Map<string, Row>;
}

export function periodStart(period: Period, time: number): number {
  return Math.floor(time / PERIOD_MS[period]) * PERIOD_MS[period];
}

/** The slot that `time` lies in, of the roll-up that starts at `start`. */
function slotOf(period: Period, level: Level, start: number, time: number): number {
  return Math.floor((time - start) / SLOT_MS[period][level]);
}

/**
 * The slots that make up the piece of `grain` that starts at `time`: `first` is the first one, `count` their number.
 */
export function slotsOf(grain: Grain, level: Level, time: number): { start: number; first: number; count: number } {
  const period = PERIOD_OF[grain];
  const start = periodStart(period, time);
  if (grain === '1d' && level === 'rows') return { start, first: WHOLE_DAY, count: 1 };
  return {
    start,
    first: slotOf(period, level, start, time),
    count: Math.max(1, GRAIN_MS[grain] / SLOT_MS[period][level]),
  };
}

/** Unique among the rows of a roll-up. A model's name is free text, so it comes last. */
export function rowKey({ name, model }: Pick<Row, 'name' | 'model'>): string {
  return model === undefined ? name : model === null ? `${name}|` : `${name}|=${model}`;
}

/** Collects additions to roll-ups: one delta for each. */
function createRollupDeltas(): {
  /** The delta of the roll-up that `time` lies in. */
  at(tenantId: TenantId, period: Period, time: number): RollupDelta;
  all(): RollupDelta[];
} {
  const deltas = new Map<string, RollupDelta>();
  return {
    at(tenantId, period, time) {
      const start = periodStart(period, time);
      const key = `${tenantId}|${period}|${start}`;
      let delta = deltas.get(key);
      if (delta === undefined) {
        const rows = { agents: new Map(), days: new Map(), plans: new Map(), labels: new Map() };
        delta = { tenantId, period, start, workspace: new Map(), ...rows };
        deltas.set(key, delta);
      }
      return delta;
    },
    all: () => [...deltas.values()],
  };
}

/** The additions to the workspace in the slot of `time`. */
function workspaceSlot({ workspace, period, start }: RollupDelta, time: number): WorkspaceSlot {
  const slot = slotOf(period, 'workspace', start, time);
  let held = workspace.get(slot);
  if (held === undefined) workspace.set(slot, (held = { tally: emptyTally(), runsStarted: 0 }));
  return held;
}

/** A row that an event adds to. Its key is made once for all roll-ups. */
interface KeyedRow extends Pick<Row, 'name' | 'model'> {
  key: string;
}

function keyed(name: string, model: Row['model']): KeyedRow {
  return { key: rowKey({ name, model }), name, model };
}

/** The additions to a row of `rows`, by slot number. */
function rowSlots(rows: Map<string, Row>, { key, name, model }: KeyedRow): Map<number, Tally> {
  let known = rows.get(key);
  if (known === undefined) rows.set(key, (known = { name, model, slots: new Map() }));
  return known.slots;
}

/** The additions of `events` and `starts` to roll-ups. */
export function rollupDeltas(events: DashboardEvent[], starts: RunStart[]): RollupDelta[] {
  const deltas = createRollupDeltas();
  for (const event of events) {
    const { tenantId, time, tracked = [] } = event;
    const tally = tallyOf(event);
    const row = rowOf(event);
    const { plan_key: name } = event.data;
    const plan = isSpend(event) && name !== undefined ? keyed(name, undefined) : undefined;
    const values = tracked.map(([label, value]) => keyed(label, value));
    for (const period of PERIODS) {
      const delta = deltas.at(tenantId, period, time);
      addTally(workspaceSlot(delta, time).tally, tally);
      const { agents, days, plans, labels, start } = delta;
      const slot = slotOf(period, 'rows', start, time);
      if (row !== undefined) {
        addToSlot(rowSlots(agents, row), slot, tally);
        if (HAS_WHOLE_DAY[period]) addToSlot(rowSlots(days, row), WHOLE_DAY, tally);
      }
      if (plan !== undefined) addToSlot(rowSlots(plans, plan), slot, tally);
      for (const value of values) addToSlot(rowSlots(labels, value), slot, tally);
    }
  }
  for (const { period, plans, labels } of deltas.all()) {
    if (HAS_WHOLE_DAY[period]) for (const rows of [plans, labels]) addWholeDays(rows);
  }
  for (const { tenantId, from, to } of starts) {
    for (const period of PERIODS) {
      workspaceSlot(deltas.at(tenantId, period, to), to).runsStarted += 1;
      if (from !== undefined) workspaceSlot(deltas.at(tenantId, period, from), from).runsStarted -= 1;
    }
  }
  return deltas.all();
}

/** Puts the sum of all slots of each row before them, in rows that also count their whole day. */
function addWholeDays(rows: Map<string, Row>): void {
  for (const row of rows.values()) {
    const whole = emptyTally();
    for (const tally of row.slots.values()) addTally(whole, tally);
    row.slots = new Map([[WHOLE_DAY, whole], ...row.slots]);
  }
}

export function addToSlot(slots: Map<number, Tally>, slot: number, tally: Tally): void {
  const held = slots.get(slot);
  if (held === undefined) slots.set(slot, { ...tally });
  else addTally(held, tally);
}

function rowOf(event: DashboardEvent): KeyedRow | undefined {
  const { data } = event;
  if (data.agent_id === undefined) return undefined;
  return keyed(data.agent_id, isSpend(event) ? (data.model?.toWellFormed() ?? null) : undefined);
}
