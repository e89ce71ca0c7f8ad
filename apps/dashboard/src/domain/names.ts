import type { TenantId } from '@tollkeeper/kernel';
import { isSpend, type DashboardEvent, type TrackedLabel } from './event.ts';
import { periodStart } from './rollup.ts';

/** Names that senders choose freely, and that have rows in roll-ups. */
export const NAME_KINDS = ['model', 'plan'] as const;
export type NameKind = (typeof NAME_KINDS)[number];
const FIELD = { model: 'model', plan: 'plan_key' } as const;

/**
 * Most models, most plans, and most values of a label, with rows of their own in a workspace's roll-ups of a UTC day:
 * the first ones that events of the day name. Further ones count as {@link OTHER}, in the day and in all its hours. So
 * a sender that makes up names gets a bounded number of rows.
 */
export const MAX_NAMES = 1_000;
/** Stands for all further names. No event has this name, since names are not empty. */
export const OTHER = '';

/** The names of a workspace on a UTC day, in the order in which events name them. */
export interface NamesOfDay extends Record<NameKind, Set<string>> {
  tenantId: TenantId;
  /** Epoch milliseconds. */
  day: number;
  /** If present, `model` has the values of this label instead of models, as in its rows, and there are no plans. */
  label?: string;
}

/** How many events of a workspace count as {@link OTHER}. */
export interface OtherNames {
  tenantId: TenantId;
  kind: NameKind | 'label';
  events: number;
}

export function namesOf(events: readonly DashboardEvent[]): NamesOfDay[] {
  const all: NamesOfDay[] = [];
  const byTenant = new Map<TenantId, NamesOfDay[]>();
  for (const event of events) {
    const { tenantId, time, tracked = [] } = event;
    const day = periodStart('day', time);
    const add = (kind: NameKind, name: string, label?: string): void => {
      let days = byTenant.get(tenantId);
      if (days === undefined) byTenant.set(tenantId, (days = []));
      let named = days.find((known) => known.day === day && known.label === label);
      if (named === undefined) {
        named = { tenantId, day, ...(label !== undefined && { label }), model: new Set(), plan: new Set() };
        days.push(named);
        all.push(named);
      }
      named[kind].add(name);
    };
    for (const kind of NAME_KINDS) {
      const name = nameIn(event, kind);
      if (name !== undefined) add(kind, name);
    }
    for (const [label, value] of tracked) add('model', value, label);
  }
  return all;
}

/** The events as roll-ups count them: each name in `further` is replaced by {@link OTHER}. */
export function withOther(
  events: DashboardEvent[],
  further: readonly NamesOfDay[],
): { events: DashboardEvent[]; others: OtherNames[] } {
  if (further.length === 0) return { events, others: [] };
  const days = new Map(further.map(({ tenantId, day, label, ...names }) => [dayKey(tenantId, day, label), names]));
  const others = new Map<string, OtherNames>();
  const count = (tenantId: TenantId, kind: OtherNames['kind']): void => {
    const key = `${tenantId}|${kind}`;
    const { events: before } = others.get(key) ?? { events: 0 };
    others.set(key, { tenantId, kind, events: before + 1 });
  };
  const renamed = events.map((event) => {
    const { tenantId, time, tracked = [] } = event;
    const names = days.get(dayKey(tenantId, time));
    const kinds = names === undefined ? [] : NAME_KINDS.filter((kind) => names[kind].has(nameIn(event, kind) ?? OTHER));
    const isOther = ([label, value]: TrackedLabel): boolean =>
      days.get(dayKey(tenantId, time, label))?.model.has(value) === true;
    const labels = tracked.filter(isOther);
    if (kinds.length + labels.length === 0) return event;
    const data = { ...event.data };
    for (const kind of kinds) {
      data[FIELD[kind]] = OTHER;
      count(tenantId, kind);
    }
    labels.forEach(() => count(tenantId, 'label'));
    const asCounted = tracked.map((label): TrackedLabel => (labels.includes(label) ? [label[0], OTHER] : label));
    return { ...event, data, ...(tracked.length > 0 && { tracked: asCounted }) };
  });
  return { events: renamed, others: [...others.values()] };
}

function nameIn(event: DashboardEvent, kind: NameKind): string | undefined {
  return isSpend(event) ? event.data[FIELD[kind]]?.toWellFormed() : undefined;
}

function dayKey(tenantId: TenantId, time: number, label = ''): string {
  return `${tenantId}|${periodStart('day', time)}|${label}`;
}
