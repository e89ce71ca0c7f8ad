import type { AuditChange, AuditTarget, Cause } from '@tollkeeper/contracts';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { Hold, Op, OpOf } from './journal.ts';
import { keys, keysOf } from './journal.ts';
import type { Ledger } from './ledger.ts';
import { createDraft } from './ledger.state.ts';
import type { Reservation } from './reservation.ts';

/** What a decision may know beside the ledger. Its owner looks up what a decision says that it needs. */
export interface Context {
  tenantId: TenantId;
  /** Epoch milliseconds. */
  now: number;
  /** Whether the ledger has the newest entries of the journal. */
  isNewest: boolean;
  /** The op with a key; null when the journal has none, undefined when nobody has looked. */
  find(key: string): Op | null | undefined;
}

/** What has to be known for a decision. Keys are looked up, and the newest entries are read after that. */
export interface Needs {
  keys?: string[];
  newest?: true;
}

/**
 * What becomes of a request: ops for the journal and the answer once it has them, a refusal, or a need to know more.
 * Nothing is in the journal unless its owner writes it.
 */
export type Decided<Answer> =
  { ops: Op[]; answer: Answer; audited?: Audited } | { refusal: AppError } | { needs: Needs };

/** What the audit log is to tell of ops that a person asked for: in the journal and in the trail, or in neither. */
export interface Audited {
  cause: Cause;
  target: AuditTarget;
  changes: AuditChange[];
}

/** A request that waits for its decision. */
export interface Ask<Answer> {
  /** A moment whose day the decision needs, beside the running one. Epoch milliseconds. */
  at?: number;
  /** It comes from the log, which waits for it. So it is never refused for the number of requests that wait. */
  isFromLog?: true;
  /**
   * When its caller stops to wait, by `performance.now()`. It is dropped undecided then: a grant that nobody knows of
   * would hold its amount until its time is over.
   */
  deadline?: number;
  /** Has applied the ops that it answers to the ledger. With a refusal or a need it has changed nothing. */
  decide(ledger: Ledger, context: Context): Decided<Answer>;
}

/** A reservation wherever it is: held, or ended as the journal says. */
export type Found =
  { hold: Hold } | { grant: OpOf<'grant'>; end: OpOf<'settle' | 'late' | 'release' | 'expire'> } | { none: true };

/** Finds a reservation in the ledger, else in the journal. */
export function findReservation(ledger: Ledger, id: string, context: Context): Found | { needs: Needs } {
  const hold = ledger.hold(id);
  if (hold !== undefined) return { hold };
  const [grant, close, expire] = [keys.grant(id), keys.close(id), keys.expire(id)].map((key) => context.find(key));
  const unknown = grant === undefined || close === undefined || expire === undefined;
  // Looked up first and read then: what was found is in the ledger after that.
  if (unknown) return { needs: { keys: [keys.grant(id), keys.close(id), keys.expire(id)] } };
  if (grant === null) return { none: true };
  const end = close ?? expire;
  if (end === null) return context.isNewest ? { needs: { keys: [keys.close(id), keys.expire(id)] } } : NEWEST;
  return { grant: grant as OpOf<'grant'>, end: end as OpOf<'settle' | 'late' | 'release' | 'expire'> };
}

export const NEWEST = { needs: { newest: true } } as const satisfies { needs: Needs };

/** A reservation as its callers see it. A hold that is past its time is expired, whether that is written or not. */
export function toReservation(found: Exclude<Found, { none: true }>, now: number): Reservation {
  if ('hold' in found) {
    const { hold } = found;
    return {
      ...facts(hold),
      expiresAt: hold.expiresAt,
      state: hold.expiresAt > now ? 'held' : 'expired',
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

function facts({ id, requestId, agentId, runId, planKey, amountMicros, createdAt }: Hold) {
  return { id, requestId, agentId, runId, planKey, amountMicros, createdAt };
}

export const noSuchReservation = () =>
  new AppError(
    'not_found',
    'This workspace has no reservation with that id, or it is older than three days. Report what its call has cost as a spend.settled event.',
  );

/**
 * What a request would be answered now, and whether it would change anything. All keys are looked up, since the journal
 * gets nothing and so refuses none that it has.
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
