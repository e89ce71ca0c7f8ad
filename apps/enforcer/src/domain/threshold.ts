import { grantableMicros, TOLD_AT } from '@tollkeeper/contracts';
import { accountIn, countedIn, findPeriod, wholePeriod } from './budget.period.ts';
import type { Ask } from './decision.ts';
import type { Op } from './journal.ts';
import { type Account, applyOp, dailyAccount, EMPTY_ACCOUNT, type Ledger } from './ledger.ts';
import type { BudgetLimit, DailyLimit, Limit } from './limit.ts';

/** A limit, and the start of a day or of a period of its meter, whose spend may have reached a percentage of it. */
export interface Reaching {
  limit: Limit;
  start: number;
}

/** Spend of a day or a period has reached a percentage of a limit. */
export type ThresholdReached = Limit & {
  /** The start of the day or of the period, or of the newest step of a rolling one. */
  start: number;
  /** The period in which the spend counts. */
  period: { start: number; end: number };
  percent: number;
  spentMicros: number;
};

/** Finds the thresholds reached but not yet reported, by limit, then percentage. Any spend reaches a limit of 0. */
export function findReached(all: readonly Reaching[]): Ask<ThresholdReached[]> {
  return {
    isFromLog: true,
    decide: (ledger, { now }) => ({
      ops: [],
      answer: all.flatMap(({ limit, start }) => thresholdsReached(ledger, limit, start, now)),
    }),
  };
}

function thresholdsReached(ledger: Ledger, limit: Limit, start: number, now: number): ThresholdReached[] {
  const counted = limit.budget === undefined ? countDay(ledger, limit, start) : countPeriod(ledger, limit, start, now);
  if (counted === undefined || counted.posted === 0) return [];
  const { posted, reported, ...place } = counted;
  return (limit.budget?.tellAt ?? TOLD_AT)
    .filter((percent) => percent > reported && isReached(posted, limit.limitMicros, percent))
    .map((percent) => ({ ...limit, ...place, percent, spentMicros: posted }));
}

/** Above 100 %, the same sum as the grace of that percentage lets pass. */
function isReached(posted: number, limitMicros: number, percent: number): boolean {
  if (percent > 100) return posted >= grantableMicros(limitMicros, percent - 100);
  return posted / limitMicros >= percent / 100;
}

type Counted = Pick<Account, 'posted' | 'reported'> & Pick<ThresholdReached, 'start' | 'period'>;

function countDay(ledger: Ledger, { scope, scopeId }: DailyLimit, start: number): Counted | undefined {
  const day = ledger.days.find((each) => each.start === start);
  if (day === undefined) return undefined;
  const { posted, reported } = ledger.readAccount(dailyAccount(scope, start, scopeId)) ?? EMPTY_ACCOUNT;
  return { posted, reported, start, period: { start, end: day.end } };
}

function countPeriod(ledger: Ledger, { budget }: BudgetLimit, start: number, now: number): Counted | undefined {
  const periods = ledger.periods(budget.meter);
  // Spend of an earlier step counts in the period that ends now, whose newest step may not have any.
  const isRolling = budget.period.kind === 'rolling';
  const place = periods.findLast((each) => (isRolling ? each.start <= now : each.start === start));
  const period = isRolling ? findPeriod(ledger, budget, now, { timezone: 'UTC', now }) : place;
  if (place === undefined || !period) return undefined;
  const { posted, reported } = countedIn(ledger, budget, period).account;
  return { posted, reported, start: place.start, period: wholePeriod(budget, period) };
}

/** Records what was reported: for each account the highest percentage. */
export function markReported(reached: readonly ThresholdReached[]): Ask<null> {
  // Percentages of a limit are ascending, so the last one stays.
  const ops = new Map(reached.map((each) => [whereReported(each), reportOf(each)]));
  return {
    isFromLog: true,
    decide(ledger) {
      for (const op of ops.values()) applyOp(ledger, op);
      return { ops: [...ops.values()], answer: null };
    },
  };
}

function whereReported({ scope, scopeId, budget, start }: ThresholdReached): string {
  return JSON.stringify([scope, scopeId, budget?.meter, budget?.value, start]);
}

function reportOf(reached: ThresholdReached): Op {
  const { start, percent } = reached;
  if (reached.budget !== undefined) return { op: 'tell', account: accountIn(reached.budget, { start }), percent };
  return { op: 'report', day: start, scope: reached.scope, scopeId: reached.scopeId, percent };
}
