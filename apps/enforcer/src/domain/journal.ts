import { createHash } from 'node:crypto';
import type { BudgetScope } from '@tollkeeper/contracts';
import type { TenantId } from '@tollkeeper/kernel';

/** A local day `[start, end)` of a workspace in epoch milliseconds. The days of a ledger do not overlap. */
export interface Day {
  start: number;
  end: number;
  /** The IANA zone whose calendar it follows. */
  timezone: string;
}

/** A reservation that holds its amount. Times are epoch milliseconds. */
export interface Hold {
  id: string;
  requestId: string;
  agentId: string;
  runId: string;
  planKey: string | null;
  amountMicros: number;
  ttlSeconds: number;
  /** Start of the day that it belongs to. */
  day: number;
  createdAt: number;
  expiresAt: number;
}

/** Where spend is posted. */
export interface Posting {
  day: number;
  agentId: string;
  planKey: string | null;
}

/** What ends a hold keeps its last `expiresAt`, for those who read the reservation later. */
interface End {
  id: string;
  expiresAt: number;
}

/**
 * One change of a workspace's ledger, as the journal keeps it. The ledger is the fold of these in the order of the
 * journal, so they say what was decided and need no rule, clock or limit to be applied.
 */
export type Op =
  | ({ op: 'day' } & Day)
  | ({ op: 'grant' } & Hold)
  | { op: 'extend'; id: string; expiresAt: number }
  | ({ op: 'expire' } & End)
  | ({ op: 'release' } & End)
  /** `counted`: the amount was posted before, under the same settlement. */
  | ({ op: 'settle'; settlementId: string; micros: number; counted: boolean } & End)
  /** Settles a reservation that no longer holds anything. */
  | ({ op: 'late'; settlementId: string; micros: number; counted: boolean } & End & Posting)
  /** Spend without a reservation. */
  | ({ op: 'post'; settlementId: string; micros: number } & Posting)
  /** An event has told that the spend of an account reached a percentage of its limit. */
  | { op: 'tell'; day: number; scope: BudgetScope; scopeId: string; percent: number };

export type OpOf<K extends Op['op']> = Extract<Op, { op: K }>;

/** Keys name what may be in a journal only once, and find it there. */
export const keys = {
  grant: (id: string) => `grant/${id}`,
  /** Of what settled or released the reservation. */
  close: (id: string) => `close/${id}`,
  expire: (id: string) => `expire/${id}`,
  settlement: (settlementId: string) => `settlement/${settlementId}`,
};

/** The keys of an op, none of which another op of the workspace has. */
export function keysOf(op: Op): string[] {
  switch (op.op) {
    case 'grant':
      return [keys.grant(op.id)];
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

/**
 * The id of the reservation for a request: the same on every replica and after every kill, so that a repeated request
 * finds it.
 */
export function reservationIdOf(tenantId: TenantId, requestId: string): string {
  return `rsv_${digestOf(tenantId, 'request', requestId)}`;
}

/** 32 hexadecimal digits, different for different words. */
export function digestOf(...words: (string | number)[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32);
}
