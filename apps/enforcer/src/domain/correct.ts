import { type ActiveBudgets, budgetedCall, type CallFacts } from './active.budgets.ts';
import { placesOf } from './budget.period.ts';
import { findDay } from './day.ts';
import { type Ask, type Context, findHold, type Needs } from './decision.ts';
import { type Hold, keys, type Op } from './journal.ts';
import { applyOp, KEEP_MS, type Ledger } from './ledger.ts';
import { post, type Posted, type ReportedSpend } from './settle.ts';
import { postingOf, reservationOf } from './settlement.ops.ts';

/** Corrects the amount of a settlement: `micros`, which may be negative, are added to it. */
export interface Correction extends CallFacts {
  /** The settlement. */
  settlementId: string;
  micros: number;
  /** Time of the settlement's event, epoch milliseconds. */
  at: number;
  /** When the correction was made, epoch milliseconds. A settlement has at most one of a time. */
  correctedAt: number;
}

/** Posts a settlement or a correction that an event reports. */
export function postAny(spend: ReportedSpend | Correction, now: number, budgets?: ActiveBudgets): Ask<Posted> {
  return 'correctedAt' in spend ? correct(spend, now, budgets) : post(spend, now, budgets);
}

/**
 * Posts a correction where its settlement counts: in the day, if that is kept, and in the periods of budgets. It counts
 * once. One that was made more than three days ago counts for no limit, as it may have been posted before.
 */
function correct(correction: Correction, now: number, budgets?: ActiveBudgets): Ask<Posted> {
  const { settlementId, correctedAt, micros, at } = correction;
  const key = keys.settlement(idOf(correction));
  return {
    isFromLog: true,
    limits: budgets?.limitsFor(budgetedCall(correction), at) ?? [],
    ...(budgets && { budgets }),
    decide(ledger, context) {
      const counted = context.find(key);
      if (counted === undefined) return { needs: { keys: [key, keys.settlement(settlementId)] } };
      const found = findGrant(settlementId, ledger, context);
      if ('needs' in found) return found;
      const { grant } = found;
      if (counted !== null) {
        const posting = counted.op === 'post' ? postingOf(counted) : null;
        return {
          ops: [],
          answer: { outcome: 'duplicate', posting, settled: { seq: context.seqOf(key)!, micros, grant } },
        };
      }
      if (correctedAt < now - KEEP_MS) return { ops: [], answer: { outcome: 'too_old', posting: null, settled: null } };
      const call: CallFacts = grant ?? correction;
      const time = grant?.createdAt ?? at;
      const timezone = findDay(ledger, now)!.timezone;
      const limits = budgets?.limitsFor(budgetedCall(call), time) ?? [];
      const { accounts, opened } = placesOf(ledger, limits, time, { timezone, now });
      // The accounts of a day that is not kept are gone.
      const day = findDay(ledger, time)?.start ?? time;
      const posting = postingOf({ day, agentId: call.agentId, planKey: call.planKey ?? null, accounts });
      const op: Op = { op: 'post', settlementId: idOf(correction), ...posting, micros };
      applyOp(ledger, op);
      return {
        ops: [...opened, op],
        answer: { outcome: 'corrected', posting, settled: { seq: context.seq, micros, grant } },
      };
    },
  };
}

/** No settlement has such an id, because ids have no `@`. */
function idOf({ settlementId, correctedAt }: Correction): string {
  return `${settlementId}@${correctedAt}`;
}

/** The reservation of the settlement, while the journal has it. Its spend counts for the time of the grant. */
function findGrant(settlementId: string, ledger: Ledger, context: Context): { grant: Hold | null } | { needs: Needs } {
  const key = keys.settlement(settlementId);
  const settlement = context.find(key);
  if (settlement === undefined) return { needs: { keys: [key] } };
  const id = reservationOf(settlement);
  if (id === null) return { grant: null };
  const found = findHold(ledger, id, context);
  if ('needs' in found) return found;
  return { grant: 'hold' in found ? found.hold : 'grant' in found ? found.grant : null };
}
