import type { Api } from '../src/index.ts';
import { DENIED, RESERVATION } from './answers.ts';

/** A lease of the ledger, and what was settled from it. */
export interface LedgerLease {
  id: string;
  agentId: string;
  amountMicros: number;
  settledMicros: number;
  createdAt: number;
  expiresAt: number;
  isReturned: boolean;
}

export interface LedgerAnswer {
  status: number;
  body: object;
}

interface Spend {
  micros: number;
  agentId: string;
}

type GrantBody = Api.GrantLeaseData['body'] & { ttl_seconds: number };
type SettleBody = Api.SettleLeaseData['body'];
type RenewBody = Api.RenewLeaseData['body'] & { ttl_seconds: number };
type ReserveBody = Api.ReserveData['body'];

/** Leases by their specification, in memory: a limit of the workspace and one for each agent, and no days. */
export class LeaseLedger {
  readonly leases = new Map<string, LedgerLease>();
  /** By settlement id. */
  readonly spend = new Map<string, Spend>();
  readonly reserved = new Map<string, Spend & { isHeld: boolean }>();
  aboveHoldMicros = 0;
  lateMicros = 0;
  grants = 0;
  denials = 0;
  readonly #renewals = new Set<string>();
  readonly #limits: { agents: Record<string, number>; workspace: number };
  readonly #now: () => number;

  constructor(limits: { agents: Record<string, number>; workspace: number }, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  isOpen({ isReturned, expiresAt }: LedgerLease): boolean {
    return !isReturned && this.#now() < expiresAt;
  }

  left(lease: LedgerLease): number {
    return this.isOpen(lease) ? Math.max(0, lease.amountMicros - lease.settledMicros) : 0;
  }

  posted(agentId?: string): number {
    return sum(this.spend.values(), (each) => (agentId === undefined || each.agentId === agentId ? each.micros : 0));
  }

  held(agentId?: string): number {
    const isOf = (each: { agentId: string }) => agentId === undefined || each.agentId === agentId;
    const inLeases = sum(this.leases.values(), (lease) => (isOf(lease) ? this.left(lease) : 0));
    return inLeases + sum(this.reserved.values(), (each) => (isOf(each) && each.isHeld ? each.micros : 0));
  }

  /** Answers a request of the API. */
  answer(path: string, body: unknown): LedgerAnswer {
    if (path === '/api/v1/leases') return this.#grant(body as GrantBody);
    if (path === '/api/v1/reservations') return this.#reserve(body as ReserveBody);
    const [, kind, id = '', action] = /^\/api\/v1\/(leases|reservations)\/([^:]+):([a-z]+)$/.exec(path) ?? [];
    if (kind === 'reservations')
      return this.#endReservation(id, action === 'settle' ? (body as SettleReservation) : null);
    const lease = this.leases.get(id);
    if (lease === undefined) return refusal(404, 'not_found');
    if (action === 'settle') return this.#settle(lease, body as SettleBody);
    if (action === 'renew') return this.#renew(lease, body as RenewBody);
    if (this.isOpen(lease)) lease.isReturned = true;
    return { status: 200, body: this.#toBody(lease) };
  }

  /** The room of the tightest limit of the agent, and the open leases there. */
  #headroom(agentId: string): { room: number; open: number } {
    const rooms = [
      { room: this.#limits.workspace - this.posted() - this.held(), of: undefined },
      { room: (this.#limits.agents[agentId] ?? Infinity) - this.posted(agentId) - this.held(agentId), of: agentId },
    ];
    const { room, of } = rooms.reduce((least, each) => (each.room < least.room ? each : least));
    const isThere = (lease: LedgerLease) => this.isOpen(lease) && (of === undefined || lease.agentId === of);
    return { room, open: [...this.leases.values()].filter(isThere).length };
  }

  #share(agentId: string, wished: number, least: number): number {
    const { room, open } = this.#headroom(agentId);
    return room < least ? -1 : Math.min(wished, Math.max(least, Math.floor(room / (2 * (open + 1)))));
  }

  #grant(body: GrantBody): LedgerAnswer {
    const id = `lse_${body.request_id}`;
    const known = this.leases.get(id);
    if (known !== undefined)
      return { status: 201, body: { decision: 'allowed', lease: this.#toBody(known), limits: [] } };
    const { agent_id: agentId, amount_micros: wished, min_micros: least, ttl_seconds: ttlSeconds } = body;
    const amountMicros = this.#share(agentId, wished, least);
    if (amountMicros < 0) return this.#deny();
    this.grants += 1;
    const now = this.#now();
    const times = { createdAt: now, expiresAt: now + ttlSeconds * 1_000 };
    const lease = { id, agentId, amountMicros, settledMicros: 0, ...times, isReturned: false };
    this.leases.set(id, lease);
    return { status: 201, body: { decision: 'allowed', lease: this.#toBody(lease), limits: [] } };
  }

  #renew(
    lease: LedgerLease,
    { request_id: id, amount_micros: wished, ttl_seconds: ttlSeconds }: RenewBody,
  ): LedgerAnswer {
    if (!this.isOpen(lease)) return refusal(409, 'conflict');
    if (!this.#renewals.has(id)) {
      const more = wished - Math.max(lease.amountMicros, lease.settledMicros);
      if (more > 0) lease.amountMicros += Math.max(0, this.#share(lease.agentId, more, 0));
      lease.expiresAt = Math.max(lease.expiresAt, this.#now() + ttlSeconds * 1_000);
      this.#renewals.add(id);
    }
    return { status: 200, body: this.#toBody(lease) };
  }

  #settle(lease: LedgerLease, { settlements }: SettleBody): LedgerAnswer {
    const results = settlements.map(({ settlement_id, amount_micros: micros }) => {
      if (this.spend.has(settlement_id)) return { settlement_id, outcome: 'duplicate', amount_micros: micros };
      const { agentId } = lease;
      this.spend.set(settlement_id, { micros, agentId });
      if (!this.isOpen(lease)) {
        this.lateMicros += micros;
        return { settlement_id, outcome: 'late', amount_micros: micros };
      }
      this.aboveHoldMicros += Math.max(0, micros - this.left(lease));
      lease.settledMicros += micros;
      return { settlement_id, outcome: 'settled', amount_micros: micros };
    });
    return { status: 200, body: { lease: this.#toBody(lease), results } };
  }

  #reserve({ request_id, agent_id: agentId, amount_micros: micros }: ReserveBody): LedgerAnswer {
    const id = `rsv_${request_id}`;
    if (!this.reserved.has(id)) {
      if (this.#headroom(agentId).room < micros) return this.#deny();
      this.reserved.set(id, { agentId, micros, isHeld: true });
    }
    return { status: 201, body: { decision: 'allowed', reservation: { ...RESERVATION, id }, limits: [] } };
  }

  #endReservation(id: string, settlement: SettleReservation | null): LedgerAnswer {
    const reservation = this.reserved.get(id);
    if (reservation === undefined) return refusal(404, 'not_found');
    reservation.isHeld = false;
    if (settlement !== null) {
      const { settlement_id, amount_micros: micros } = settlement;
      this.spend.set(settlement_id, this.spend.get(settlement_id) ?? { micros, agentId: reservation.agentId });
    }
    return { status: 200, body: { ...RESERVATION, id } };
  }

  #deny(): LedgerAnswer {
    this.denials += 1;
    return { status: 200, body: DENIED };
  }

  #toBody(lease: LedgerLease): Pick<Api.Lease, 'id' | 'amount_micros' | 'state' | 'expires_in_ms'> {
    const { id, amountMicros: amount_micros, isReturned, expiresAt } = lease;
    const state = this.isOpen(lease) ? 'open' : isReturned ? 'returned' : 'expired';
    return { id, amount_micros, state, expires_in_ms: this.isOpen(lease) ? expiresAt - this.#now() : 0 };
  }
}

type SettleReservation = Api.SettleReservationData['body'];

function refusal(status: number, code: string): LedgerAnswer {
  return { status, body: { error: `It is ${code}.`, code, request_id: 'req-1' } };
}

function sum<T>(items: Iterable<T>, of: (item: T) => number): number {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
}
