import type { TenantId } from '@tollkeeper/kernel';
import { SPEND_SETTLED, type DashboardEvent } from './event.ts';
import { periodStart } from './rollup.ts';

/** What settlements name as senders like, and roll-ups have rows of. */
export const NAME_KINDS = ['model', 'plan'] as const;
export type NameKind = (typeof NAME_KINDS)[number];
const FIELD = { model: 'model', plan: 'plan_key' } as const;

/**
 * Models, and plans, that the roll-ups of a workspace tell apart in a day of UTC: the first ones that settlements of
 * the day name. Further ones count as {@link OTHER}, in the day and all its hours. So a sender that makes up names has
 * a bounded number of rows.
 */
export const MAX_NAMES = 1_000;
/** Stands for all further names. No event names it: names are not empty. */
export const OTHER = '';

/** Names of a workspace and a day of UTC, in the order in which events name them. */
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

/** The events as roll-ups count them: with {@link OTHER} in place of the names that are `further`. */
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
