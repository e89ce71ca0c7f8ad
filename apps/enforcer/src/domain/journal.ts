import { hash } from 'node:crypto';
import type { BudgetScope, Labels } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';
import type { Fill } from './metering.ts';
import type { ReservationRequest } from './reservation.ts';

/** A local day `[start, end)` of a workspace in epoch milliseconds. The days of a ledger do not overlap. */
export interface Day {
  start: number;
  end: number;
  /** The IANA zone whose calendar it follows. */
  timezone: string;
}

/** A period of a budget, kept until `until`. Times are epoch milliseconds. */
export interface Period {
  start: number;
  end: number;
  until: number;
}

/**
 * Identifies an account of a ledger. A meter counts spend by value in its periods. There is one for each generation of
 * a budget, with the values of its `each`, or `''` without one. And there is one for each scope of daily budgets, with
 * the days of the workspace as periods and scope ids as values, which is `''` for the workspace.
 */
export type AccountKey = readonly [meter: string, start: number, value: string];

/** A reservation that holds its amount. Times are epoch milliseconds. */
export interface Hold {
  id: string;
  requestId: string;
  agentId: string;
  runId: string;
  planKey: string | null;
  amountMicros: number;
  ttlSeconds: number;
  /** Start of the day that it counts for. */
  day: number;
  createdAt: number;
  expiresAt: number;
  /**
   * {@link saidOf} the request. Release 0.1.0 did not write it, and ignored what gateways sent of it: then any request
   * is the same in this.
   */
  said?: string;
  /** Those of its key, its agent and its call. What is not known of the call is left out, here and below. */
  labels?: Labels;
  model?: string;
  provider?: string;
  keyId?: string;
  /** The accounts of budgets that it counts in besides those of daily budgets. Left out if there are none. */
  accounts?: readonly AccountKey[];
  /** Of a lease alone. Its `amountMicros` is what is left of it, and it has no `runId`. */
  lease?: LeaseTerms;
  /** An attempt of its call has failed: it is released at its end, and does not expire. */
  failed?: true;
}

/** The terms of a hold that is a lease. */
interface LeaseTerms {
  /** What it was granted in all. */
  amountMicros: number;
  /** What was settled from it. */
  settledMicros: number;
  /** What its request wished for, and needed at least. */
  wishedMicros: number;
  minMicros: number;
}

/** The accounts that spend is posted to. */
export interface Posting {
  day: number;
  agentId: string;
  planKey: string | null;
  /** As of a {@link Hold}. */
  accounts?: readonly AccountKey[];
}

/** Ops that end a hold keep its last `expiresAt`, for later reads of the reservation. */
interface End {
  id: string;
  expiresAt: number;
}

/** Ends of leases keep their last terms as well. */
interface EndOfAny extends End {
  lease?: LeaseTerms;
}

/** Settlements from a lease. */
interface Drawn {
  id: string;
  settlements: readonly (readonly [settlementId: string, micros: number])[];
}

/**
 * One change of a workspace's ledger, as stored in the journal. The ledger is the fold of all ops in order. Ops contain
 * the decisions themselves, so applying them needs no rule, clock or limit.
 */
export type Op =
  | ({ op: 'day' } & Day)
  | ({ op: 'period'; meter: string } & Period)
  /** Begins meters in entry `cut`. One without a `from` has no spend before this entry. */
  | { op: 'begin'; cut: number; at: number; meters: readonly (readonly [meter: string, from: number | null])[] }
  /** An open reservation counts in further accounts, whose meters have begun after its grant. */
  | { op: 'adopt'; id: string; accounts: readonly AccountKey[] }
  /** Removes meters with all of their periods and accounts. */
  | { op: 'forget'; meters: readonly string[] }
  /** Adds spend that was settled before the beginning of meters. */
  | ({ op: 'fill'; spend: readonly (readonly [account: AccountKey, micros: number])[] } & Fill)
  | ({ op: 'grant' } & Hold)
  /** Changes when it ends. `failed`: because an attempt of its call has. */
  | { op: 'extend'; id: string; expiresAt: number; failed?: true }
  | ({ op: 'expire' } & EndOfAny)
  | ({ op: 'release' } & EndOfAny)
  /** `counted`: the amount was already posted, under the same settlement. */
  | ({ op: 'settle'; settlementId: string; micros: number; counted: boolean } & End)
  /** Settles a reservation that no longer holds anything. */
  | ({ op: 'late'; settlementId: string; micros: number; counted: boolean } & End & Posting)
  /** Spend without a reservation, or a correction of spend, which may be negative. */
  | ({ op: 'post'; settlementId: string; micros: number } & Posting)
  /** Grants a lease. It is no `grant`, because release 0.1.0 would take it for a reservation. */
  | ({ op: 'lease' } & Hold)
  /** `amountMicros` is what the lease is granted in all. Repeats of the request have the same wish and TTL. */
  | {
      op: 'renew';
      id: string;
      requestId: string;
      wishedMicros: number;
      ttlSeconds: number;
      amountMicros: number;
      expiresAt: number;
    }
  | ({ op: 'draw' } & Drawn)
  /** After the lease has ended. */
  | ({ op: 'draw_late' } & Drawn & Posting)
  /** An event has reported that the spend of an account reached a percentage of its limit. */
  | { op: 'report'; day: number; scope: BudgetScope; scopeId: string; percent: number }
  /** The same for an account of a budget. */
  | { op: 'tell'; account: AccountKey; percent: number };

/** An op with the number of its entry. */
export interface PlacedOp {
  seq: number;
  op: Op;
}

export type OpOf<K extends Op['op']> = Extract<Op, { op: K }>;

/** Keys of what a journal may contain only once. They are also used to find it. */
export const keys = {
  grant: (id: string) => `grant/${id}`,
  /** The key of what settled or released the reservation. */
  close: (id: string) => `close/${id}`,
  expire: (id: string) => `expire/${id}`,
  settlement: (settlementId: string) => `settlement/${settlementId}`,
  renewal: (leaseId: string, requestId: string) => `renew/${leaseId}/${requestId}`,
};

/** The keys of an op, which no other op of the workspace has. */
export function keysOf(op: Op): string[] {
  switch (op.op) {
    case 'grant':
    case 'lease':
      return [keys.grant(op.id)];
    case 'renew':
      return [keys.renewal(op.id, op.requestId)];
    case 'draw':
    case 'draw_late':
      return op.settlements.map(([settlementId]) => keys.settlement(settlementId));
    case 'expire':
      return [keys.expire(op.id)];
    case 'release':
      return [keys.close(op.id)];
    case 'settle':
    case 'late':
      return op.counted ? [keys.close(op.id)] : [keys.close(op.id), keys.settlement(op.settlementId)];
    case 'post':
      return [keys.settlement(op.settlementId)];
    default:
      return [];
  }
}

/** The op with those of its settlements alone whose keys are wanted: it may have a thousand. */
export function onlyWanted(op: Op, wanted: ReadonlySet<string>): Op {
  if (!('settlements' in op)) return op;
  return { ...op, settlements: op.settlements.filter(([settlementId]) => wanted.has(keys.settlement(settlementId))) };
}

/** How long after the grant a request id means its reservation. */
export const REQUEST_ID_MS = 24 * 3_600_000;

/**
 * The id of the reservation for a request. It is deterministic, so a repeated request finds its reservation on every
 * replica and after a crash.
 */
export function reservationIdOf(tenantId: TenantId, requestId: string): string {
  return `rsv_${digestOf(tenantId, 'request', requestId)}`;
}

const LEASE_PREFIX = 'lse_';

/** The id of the lease for a request. Leases and reservations may have the same request ids. */
export function leaseIdOf(tenantId: TenantId, requestId: string): string {
  return `${LEASE_PREFIX}${digestOf(tenantId, 'lease', requestId)}`;
}

export function isLeaseId(id: string): boolean {
  return id.startsWith(LEASE_PREFIX);
}

/** How an op that ends a hold names it. */
export function endOf({ id, expiresAt, lease }: Hold): EndOfAny {
  return { id, expiresAt, ...(lease && { lease }) };
}

/** 32 hexadecimal digits, different for different inputs. */
export function digestOf(...words: (string | number)[]): string {
  return hash('sha256', JSON.stringify(words), 'hex').slice(0, 32);
}

/**
 * A digest of what a request says of its call, to recognize the same request again. Its labels, and not those of the
 * reservation, which also has those that its key and its agent had at the time. Empty if it says nothing.
 */
export function saidOf({ model, provider, labels }: Pick<ReservationRequest, 'model' | 'provider' | 'labels'>): string {
  const names = Object.keys(labels).sort();
  if (model === null && provider === null && names.length === 0) return '';
  return digestOf(JSON.stringify([model, provider, names.map((name) => [name, labels[name]])]));
}
