import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { periodStart } from './rollup.ts';

/** Names that senders choose freely in settlements, and that have rows in roll-ups. */
export const NAME_KINDS = ['model', 'plan'] as const;
export type NameKind = (typeof NAME_KINDS)[number];
const FIELD = { model: 'model', plan: 'plan_key' } as const;

/**
 * Most models, and most plans, with rows of their own in a workspace's roll-ups of a UTC day: the first ones that
 * settlements of the day name. Further ones count as {@link OTHER}, in the day and in all its hours. So a sender that
 * makes up names gets a bounded number of rows.
 */
export const MAX_NAMES = 1_000;
/** Stands for all further names. No event has this name, since names are not empty. */
export const OTHER = '';

/** The names of a workspace on a UTC day, in the order in which events name them. */
export interface NamesOfDay extends Record<NameKind, Set<string>> {
  tenantId: TenantId;
  /** Epoch milliseconds. */
  day: number;
}

/** How many settlements of a workspace count as {@link OTHER}. */
export interface OtherNames {
  tenantId: TenantId;
  kind: NameKind;
  settlements: number;
}

export function namesOf(events: readonly DashboardEvent[]): NamesOfDay[] {
  const all: NamesOfDay[] = [];
  const byTenant = new Map<TenantId, NamesOfDay[]>();
  for (const event of events) {
    const { tenantId, time } = event;
    const day = periodStart('day', time);
    for (const kind of NAME_KINDS) {
      const name = nameIn(event, kind);
      if (name === undefined) continue;
      let days = byTenant.get(tenantId);
      if (days === undefined) byTenant.set(tenantId, (days = []));
      let named = days.find((known) => known.day === day);
      if (named === undefined) {
        named = { tenantId, day, model: new Set(), plan: new Set() };
        days.push(named);
        all.push(named);
      }
      named[kind].add(name);
    }
  }
  return all;
}

/** The events as roll-ups count them: each name in `further` is replaced by {@link OTHER}. */
export function withOther(
  events: DashboardEvent[],
  further: readonly NamesOfDay[],
): { events: DashboardEvent[]; others: OtherNames[] } {
  if (further.length === 0) return { events, others: [] };
  const days = new Map(further.map((names) => [dayKey(names.tenantId, names.day), names]));
  const others = new Map<string, OtherNames>();
  const renamed = events.map((event) => {
    const { tenantId, time } = event;
    const names = days.get(dayKey(tenantId, time));
    const kinds = names === undefined ? [] : NAME_KINDS.filter((kind) => names[kind].has(nameIn(event, kind) ?? OTHER));
    if (kinds.length === 0) return event;
    const data = { ...event.data };
    for (const kind of kinds) {
      data[FIELD[kind]] = OTHER;
      const key = `${tenantId}|${kind}`;
      const { settlements } = others.get(key) ?? { settlements: 0 };
      others.set(key, { tenantId, kind, settlements: settlements + 1 });
    }
    return { ...event, data };
  });
  return { events: renamed, others: [...others.values()] };
}

function nameIn({ type, data }: DashboardEvent, kind: NameKind): string | undefined {
  return type === SPEND_SETTLED ? data[FIELD[kind]]?.toWellFormed() : undefined;
}

function dayKey(tenantId: TenantId, time: number): string {
  return `${tenantId}|${periodStart('day', time)}`;
}
