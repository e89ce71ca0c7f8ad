import type { Kill } from './fault.tables.ts';

const MAX_PROBLEMS = 100;

/** What happens in a run. */
export interface FaultRecord {
  readonly startedAt: number;
  /** Number of calls and events so far. */
  made: number;
  /** The violations. */
  readonly problems: string[];
  /** Number of answers by kind. */
  readonly answers: Map<string, number>;
  readonly kills: Kill[];
  count(kind: string): void;
  problem(text: string): void;
}

export function createFaultRecord(): FaultRecord {
  const answers = new Map<string, number>();
  const problems: string[] = [];
  return {
    ...{ startedAt: Date.now(), made: 0, problems, answers, kills: [] },
    count: (kind) => answers.set(kind, (answers.get(kind) ?? 0) + 1),
    problem: (text) => void (problems.length < MAX_PROBLEMS && problems.push(text)),
  };
}

/** Random choices, the same for the same seed. */
export interface Chance {
  /** At least 0 and below 1. */
  next(): number;
  /** An integer below `max`. */
  below(max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** By mulberry32. */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (max: number) => Math.floor(next() * max);
  return { next, below, pick: (items) => items[below(items.length)]! };
}
