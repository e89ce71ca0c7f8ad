import { UNLIMITED, type ReadMeter } from './reads.ts';
import { addTally, emptyTally, type SpendTally, type Tally } from './tally.ts';

/** What spend can be divided by, besides labels, which workspaces name. */
export const DIMENSIONS = ['agent', 'model', 'plan'] as const;
export type Grouping = { by: (typeof DIMENSIONS)[number] } | { by: 'label'; name: string };
export type Dimension = Grouping['by'];

/** Whether keys of the dimension also have a display name. */
export const HAS_DISPLAY_NAME: Record<Dimension, boolean> = { agent: true, model: false, plan: false, label: false };

/**
 * An agent, a model, a plan, or the value of a label; `OTHER` for names beyond the limit. Null for settlements that
 * name none.
 */
export type GroupKey = string | null;

/** The spend of one group, or of several. */
interface GroupSpend<Total = SpendTally> {
  total: Total;
  /** USD micros, by span index. */
  micros: Float64Array;
}

/** Spend over a list of spans, divided into groups. In each span, the groups and `others` add up to all spend. */
export interface Breakdown {
  /** The groups that spent most, largest first. */
  groups: (GroupSpend & { key: GroupKey })[];
  /** All further groups; absent when there are none. */
  others?: GroupSpend & { count: number };
}

/** Adds what a group settled in a span. It may be called several times for the same group and span. */
export type AddSpend = (key: GroupKey, span: number, tally: Tally) => void;

/**
 * Most groups that a read keeps apart. Senders choose the names of models, plans and values, so nothing else bounds the
 * memory that a breakdown takes. Further groups count among the others.
 */
export const MAX_GROUPS = 10_000;
/** Approximate heap bytes of a group, without its spans. */
const GROUP_BYTES = 512;

/** Collects spend in any order, and returns the `limit` largest groups over `spans` spans. */
export function createBreakdown(
  spans: number,
  meter: ReadMeter = UNLIMITED,
): { add: AddSpend; largest(limit: number): Breakdown } {
  const nothing = (): GroupSpend<Tally> => ({ total: emptyTally(), micros: new Float64Array(spans) });
  const groups = new Map<GroupKey, GroupSpend<Tally>>();
  const further = nothing();

  return {
    add(key, span, tally) {
      // A correction alone has no settlement.
      if (tally.settlements === 0 && tally.totalMicros === 0) return;
      let group = groups.get(key);
      if (group === undefined) {
        if (groups.size < MAX_GROUPS) {
          meter.take(GROUP_BYTES + spans * Float64Array.BYTES_PER_ELEMENT);
          groups.set(key, (group = nothing()));
        } else group = further;
      }
      addTally(group.total, tally);
      group.micros[span]! += tally.totalMicros;
    },
    largest(limit) {
      const sorted = [...groups].map(([key, group]) => ({ key, ...group })).sort(bySpend);
      const rest = sorted.slice(limit);
      if (rest.length === 0 && further.total.settlements === 0) return { groups: sorted };
      const others = { ...nothing(), count: rest.length };
      for (const { total, micros } of [...rest, further]) {
        addTally(others.total, total);
        micros.forEach((value, span) => (others.micros[span]! += value));
      }
      return { groups: sorted.slice(0, limit), others };
    },
  };
}

/** Largest first; groups with equal spend by key. */
function bySpend(a: GroupSpend & { key: GroupKey }, b: GroupSpend & { key: GroupKey }): number {
  return b.total.totalMicros - a.total.totalMicros || ((a.key ?? '') < (b.key ?? '') ? -1 : 1);
}
