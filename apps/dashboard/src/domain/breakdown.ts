import { UNLIMITED, type ReadMeter } from './reads.ts';
import { addTally, emptyTally, type SpendTally, type Tally } from './tally.ts';

/** What spend can be divided by. */
export const DIMENSIONS = ['agent', 'model', 'plan'] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/**
 * An agent, a model or a plan; `OTHER` for names that are not told apart. Null for settlements that name none.
 */
export type GroupKey = string | null;

/** What was settled in one group, or in several. */
interface GroupSpend<Total = SpendTally> {
  total: Total;
  /** USD micros, by the index of the span. */
  micros: Float64Array;
}

/** Spend over a list of spans, divided into groups. The groups and `others` add up to all spend, in each span. */
export interface Breakdown {
  /** Those that spent most, by spend. */
  groups: (GroupSpend & { key: GroupKey })[];
  /** All further groups; absent when there are none. */
  others?: GroupSpend & { count: number };
}

/** Takes what a group settled in a span. A group and a span may come several times. */
export type AddSpend = (key: GroupKey, span: number, tally: Tally) => void;

/**
 * Groups that are told apart while spend is read. Senders name models and plans as they like, so nothing else bounds
 * the memory that a breakdown takes. Further groups are among the others.
 */
export const MAX_GROUPS = 10_000;
/** What a group takes of the heap beside its spans, about. */
const GROUP_BYTES = 512;

/** Collects spend in any order, and answers the `limit` largest groups over `spans` spans. */
export function createBreakdown(
  spans: number,
  meter: ReadMeter = UNLIMITED,
): { add: AddSpend; largest(limit: number): Breakdown } {
  const nothing = (): GroupSpend<Tally> => ({ total: emptyTally(), micros: new Float64Array(spans) });
  const groups = new Map<GroupKey, GroupSpend<Tally>>();
  const further = nothing();

  return {
    add(key, span, tally) {
      if (tally.settlements === 0) return;
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
      if (rest.length === 0) return { groups: sorted };
      const others = { ...nothing(), count: rest.length };
      for (const { total, micros } of [...rest, further]) {
        addTally(others.total, total);
        micros.forEach((value, span) => (others.micros[span]! += value));
      }
      return { groups: sorted.slice(0, limit), others };
    },
  };
}

/** The largest first; those that spent alike by their keys. */
function bySpend(a: GroupSpend & { key: GroupKey }, b: GroupSpend & { key: GroupKey }): number {
  return b.total.totalMicros - a.total.totalMicros || ((a.key ?? '') < (b.key ?? '') ? -1 : 1);
}
