import type { AuditChange, AuditTarget, Cause } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { ActiveBudgets } from './active.budgets.ts';
import type { Hold, Op, OpOf } from './journal.ts';
import { isLeaseId, keys, keysOf } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { Limit } from './limit.ts';
import { createDraft } from './ledger.state.ts';
import type { Reservation } from './reservation.ts';

/** What a decision can see besides the ledger. If a decision needs more, the caller looks it up and decides again. */
export interface Context {
  tenantId: TenantId;
  /** Epoch milliseconds. */
  now: number;
  /** Number of the entry that the ops of this decision become a part of. */
  seq: number;
  /** Whether the ledger has the newest entries of the journal. */
  isNewest: boolean;
  /** The op with a key; null if the journal has none, undefined if that has not been looked up. */
  find(key: string): Op | null | undefined;
  /** The number of the entry with that op; undefined without one, and if it has not been looked up. */
  seqOf(key: string): number | undefined;
}

/** What a decision needs to know. First the keys are looked up, then the newest entries are read. */
export interface Needs {
  keys?: string[];
  newest?: true;
}

/**
 * The result of a decision: ops for the journal with the answer once they are stored, a refusal, or a need for more
 * data. A decision writes nothing to the journal itself.
 */
export type Decided<Answer> =
  { ops: Op[]; answer: Answer; audited?: Audited } | { refusal: AppError } | { needs: Needs };

/** The audit records of ops that a person asked for. They are stored with the ops or not at all. */
export interface Audited {
  cause: Cause;
  target: AuditTarget;
  changes: AuditChange[];
}

/** A request to be decided. */
export interface Ask<Answer> {
  /** Another time whose day the decision needs besides the running day, epoch milliseconds. */
  at?: number;
  /** The limits in which it may count. They determine how much it may add to the journal. */
  limits?: readonly Limit[];
  /** Where the limits are from. The ledger begins the meters of these budgets before the decision. */
  budgets?: ActiveBudgets;
  /** Set for requests from the log, which waits for them. They are never refused because too many requests wait. */
  isFromLog?: true;
  /** How many requests it counts as in a batch, if its op is larger than that of one. */
  weight?: number;
  /**
   * When its caller stops waiting, by `performance.now()`. After that, it is dropped undecided: a grant that nobody
   * knows of would hold its amount until it expires.
   */
  deadline?: number;
  /** Decides, and applies the resulting ops to the ledger. A refusal or a need leaves the ledger unchanged. */
  decide(ledger: Ledger, context: Context): Decided<Answer>;
}

/** A request that only reads, and that may read very much. It is decided in slices, and no other one meanwhile. */
export interface LongRead<Answer> extends Omit<Ask<Answer>, 'decide'> {
  /** Decides, and leaves the ledger as it is. */
  decide(ledger: Ledger, context: Context): Promise<Decided<Answer>>;
}

/** Decides requests on the newest ledger of their workspace, and appends their changes to its journal. */
export type Submit = <Answer>(tenantId: TenantId, ask: Ask<Answer> | LongRead<Answer>) => Promise<Answer>;

/** A reservation or a lease in any state: held, or ended according to the journal. */
export type Found =
  | { hold: Hold }
  | { grant: OpOf<'grant' | 'lease'>; end: OpOf<'settle' | 'late' | 'release' | 'expire'> }
  | { none: true };

export const NONE: Found = { none: true };

export function findReservation(ledger: Ledger, id: string, context: Context): Found | { needs: Needs } {
  return isLeaseId(id) ? NONE : findHold(ledger, id, context);
}

/** Finds a reservation or a lease in the ledger, else in the journal. */
export function findHold(ledger: Ledger, id: string, context: Context): Found | { needs: Needs } {
  const hold = ledger.hold(id);
  if (hold !== undefined) return { hold };
  const [grant, close, expire] = [keys.grant(id), keys.close(id), keys.expire(id)].map((key) => context.find(key));
  const unknown = grant === undefined || close === undefined || expire === undefined;
  // The newest entries are read after the look-up, so the ledger then contains everything that was found.
  if (unknown) return { needs: { keys: [keys.grant(id), keys.close(id), keys.expire(id)] } };
  if (grant === null) return NONE;
  const end = close ?? expire;
  if (end === null) return context.isNewest ? { needs: { keys: [keys.close(id), keys.expire(id)] } } : NEWEST;
  return { grant: grant as OpOf<'grant' | 'lease'>, end: end as OpOf<'settle' | 'late' | 'release' | 'expire'> };
}

export const NEWEST = { needs: { newest: true } } as const satisfies { needs: Needs };

/** A reservation as its callers see it. A hold past its time counts as expired even before the journal says so. */
export function toReservation(found: Exclude<Found, { none: true }>, now: number): Reservation {
  if ('hold' in found) {
    const { hold } = found;
    return {
      ...facts(hold),
      expiresAt: hold.expiresAt,
      state: hold.expiresAt > now ? 'held' : hold.failed ? 'released' : 'expired',
      ...UNSETTLED,
    };
  }
  const { grant, end } = found;
  const common = { ...facts(grant), expiresAt: end.expiresAt };
  switch (end.op) {
    case 'settle':
    case 'late':
      return { ...common, state: 'settled', settledMicros: end.micros, settlementId: end.settlementId };
    case 'release':
      return { ...common, state: 'released', ...UNSETTLED };
    case 'expire':
      return { ...common, state: 'expired', ...UNSETTLED };
  }
}

const UNSETTLED = { settledMicros: null, settlementId: null };

function facts(hold: Hold) {
  const { id, requestId, agentId, runId, planKey, amountMicros, createdAt } = hold;
  const { model = null, provider = null, keyId = null, labels = {} } = hold;
  return { id, requestId, agentId, runId, planKey, amountMicros, createdAt, model, provider, keyId, labels };
}

export const noSuchReservation = () =>
  new AppError(
    'not_found',
    'This workspace has no reservation with that id, or it is older than three days. Report the cost of its call as a spend.settled event.',
  );

/**
 * The answer that a request would get now, and whether it would change anything. Looks up all keys, because nothing is
 * appended that the journal could refuse as a repetition.
 */
export function rehearse<Answer>(ask: Ask<Answer>): Ask<{ answer: Answer; changes: boolean }> {
  return {
    ...ask,
    decide(ledger, context) {
      const decided = ask.decide(createDraft(ledger), context);
      if (!('ops' in decided)) return decided;
      const unknown = decided.ops.flatMap(keysOf).filter((key) => context.find(key) === undefined);
      if (unknown.length > 0) return { needs: { keys: unknown } };
      return { ops: [], answer: { answer: decided.answer, changes: decided.ops.length > 0 } };
    },
  };
}
