import { AppError } from '@tollkeeper/kernel';
import type { ActiveBudgets } from '../src/domain/active.budgets.ts';
import type { Ask } from '../src/domain/decision.ts';
import type { LimitsView } from '../src/domain/enforcement.ts';
import type { Limit } from '../src/domain/limit.ts';
import { viewLimits } from '../src/domain/limit.view.ts';

/** Random integers below `below`, always the same ones for a seed. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Picks one of a list with such integers. */
export function picking(next: (below: number) => number): <T>(of: readonly T[]) => T {
  return (of) => of[next(of.length)]!;
}

export function answering<Answer, Shown>(ask: Ask<Answer>, shown: (answer: Answer) => Shown): Ask<Shown> {
  return {
    ...ask,
    decide(ledger, context) {
      const decided = ask.decide(ledger, context);
      return 'ops' in decided ? { ...decided, answer: shown(decided.answer) } : decided;
    },
  };
}

/** The view of limits. Of reservations that ended before a budget was made, it does not know how they ended. */
export function viewOfAll(limits: readonly Limit[], budgets: ActiveBudgets): Ask<unknown> {
  const shown = ({ day, items }: LimitsView) => {
    const known = items.map(({ released, expired, overspendMicros, ...view }) => {
      const item = { ...view, filledPercent: undefined, paceEndMicros: undefined };
      return item.budget === undefined ? { ...item, released, expired, overspendMicros } : item;
    });
    return { day, items: known };
  };
  return { ...answering(viewLimits(limits), shown), budgets };
}

/** The answer without its message for people, and without the raises that its limits came with. */
export function plain(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value: unknown) =>
    key === 'message' || key === 'raises' ? undefined : value,
  );
}

export function codeOf(error: unknown): unknown {
  if (error instanceof AppError) return error.code;
  throw error;
}
