import type { BudgetedCall, Labels } from '@tollkeeper/contracts';
import type { LeaseRequest } from '../src/domain/lease.ts';
import type { Reservation, ReservationRequest } from '../src/domain/reservation.ts';
import type { ReferencePeriods } from './history.budgets.ts';

/** A request with the labels of its key and its agent. */
export type LabelledRequest = ReservationRequest & { pinned: Labels; ofAgent: Labels };

/** The same of a lease. */
export type LabelledLease = Omit<LeaseRequest, 'runId'> & { pinned: Labels; ofAgent: Labels };

/** Everything that happened, in order. */
export type Fact = { now: number } & (
  | { kind: 'granted'; id: string; day: number; request: LabelledRequest; call: BudgetedCall; at: number }
  | {
      kind: 'leased';
      id: string;
      day: number;
      request: LabelledLease;
      call: BudgetedCall;
      at: number;
      amountMicros: number;
      expiresAt: number;
    }
  | {
      kind: 'renewed';
      id: string;
      requestId: string;
      wished: number;
      ttlSeconds: number;
      amountMicros: number;
      expiresAt: number;
    }
  | { kind: 'drawn'; id: string; settlementId: string; micros: number; isLate: boolean }
  | { kind: 'returned'; id: string }
  | { kind: 'extended'; id: string; expiresAt: number }
  | { kind: 'released'; id: string }
  /** `counted`: the amount was already posted under this settlement. */
  | { kind: 'settled'; id: string; settlementId: string; micros: number; counted: boolean; isLate: boolean }
  | {
      kind: 'unreserved';
      settlementId: string;
      micros: number;
      day: number;
      agentId: string;
      planKey: string | null;
      call: BudgetedCall;
      at: number;
    }
  /** The amount of a settlement is corrected by `micros`. */
  | {
      kind: 'corrected';
      settlementId: string;
      correctedAt: number;
      micros: number;
      day: number;
      agentId: string;
      planKey: string | null;
      call: BudgetedCall;
      at: number;
    }
  /** Spend that is older than three days: nothing is posted. */
  | { kind: 'too old'; settlementId: string; micros: number; call: BudgetedCall; at: number }
);
export type FactOf<K extends Fact['kind']> = Extract<Fact, { kind: K }>;

export interface Span {
  start: number;
  end: number;
}

/** What a lease has counted so far, by replaying its facts. */
export interface LeaseCount {
  amountMicros: number;
  settledMicros: number;
  leftMicros: number;
  aboveMicros: number;
  lateMicros: number;
  expiresAt: number;
  isReturned: boolean;
}

/** What the leases have counted. */
interface LeaseCounts {
  count(lease: FactOf<'leased'>): LeaseCount;
  isOpen(lease: FactOf<'leased'>): boolean;
}

/** Everything that happened, and the calendar. */
export interface History {
  readonly facts: readonly Fact[];
  readonly periods: ReferencePeriods;
  readonly leases: LeaseCounts;
  readonly now: number;
  of<K extends Fact['kind']>(kind: K): FactOf<K>[];
  find(id: string): Reservation | undefined;
  dayOf(at: number): Span & { timezone: string };
}
