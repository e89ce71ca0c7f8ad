import { addPage, findFill } from '../src/domain/fill.page.ts';
import { postAny } from '../src/domain/correct.ts';
import type { WorkspaceLedger } from '../src/ledger/workspace.ledger.ts';
import { withNewestBudgets } from '../src/domain/newest.budgets.ts';
import type { BudgetSource } from '../src/domain/peers.ts';
import { TENANT } from './history.limits.ts';
import type { Reference, Spend } from './reference.ts';

/** What a history has settled, as the dashboard has it: of each settlement, the first event. */
export class HistoryDashboard {
  private readonly events = new Map<string, Spend>();
  private readonly reference: Reference;
  private readonly next: (below: number) => number;

  constructor(reference: Reference, next: (below: number) => number) {
    this.reference = reference;
    this.next = next;
  }

  /** Keeps no requests, as the dashboard, and leases in place of reservations. */
  add({ requestId: _, leaseId, ...event }: Spend): void {
    const spend = { ...event, reservationId: event.reservationId ?? leaseId ?? null };
    const key = `${spend.settlementId} ${spend.correctedAt ?? ''}`;
    if (!this.events.has(key)) this.events.set(key, spend);
  }

  /** A settlement that may be corrected; undefined without any. Corrections come later in the log than settlements. */
  any(): Spend | undefined {
    const settlements = [...this.events.values()].filter(
      ({ correctedAt, settlementId }) => correctedAt === undefined && this.reference.posted(settlementId) !== undefined,
    );
    return settlements[this.next(Math.max(1, settlements.length))];
  }

  /** A call of a gateway: its event is in the log before its op is in the journal. */
  settles<Answer>(id: string, settlementId: string, settle: () => Answer): Answer {
    const answer = settle();
    const grant = this.reference.facts.find((fact) => fact.kind === 'granted' && fact.id === id);
    if (grant?.kind === 'granted' && answer !== null && typeof answer === 'object' && 'settledMicros' in answer) {
      const { agentId, planKey } = grant.request;
      const micros = answer.settledMicros as number;
      const { call } = grant;
      this.add({ settlementId, reservationId: id, agentId, planKey, call, micros, at: this.reference.now });
    }
    return answer;
  }

  /** The same for settlements from a lease. */
  draws<Answer>(id: string, settle: () => Answer): Answer {
    const count = this.reference.facts.length;
    const answer = settle();
    const lease = this.reference.leases.granted(id);
    for (const fact of this.reference.facts.slice(count)) {
      if (lease === undefined || fact.kind !== 'drawn') continue;
      const { settlementId, micros } = fact;
      const { agentId, planKey } = lease.request;
      this.add({ settlementId, reservationId: id, agentId, planKey, call: lease.call, micros, at: fact.now });
    }
    return answer;
  }

  /** Fills all meters that are not exact, in small pages, from any of the replicas, and some pages twice. */
  async fill(anyReplica: () => WorkspaceLedger, budgets: BudgetSource): Promise<void> {
    const { now } = this.reference;
    const active = await budgets.of(TENANT);
    for (;;) {
      const found = await anyReplica().submit(findFill());
      const { fill, seq } = found;
      if (fill === null) break;
      this.reference.agree(active.all);
      const all = [...this.events.values()].filter(({ at }) => at >= fill.from && at < fill.until);
      const start = Number(fill.cursor);
      const end = start + 1 + this.next(4);
      const rows = all.slice(start, end);
      const cursor = end >= all.length ? '' : String(end);
      for (let times = 1 + (this.next(4) === 0 ? 1 : 0); times > 0; times -= 1) {
        const replica = anyReplica();
        await withNewestBudgets(budgets, TENANT, async (active) => {
          const posted = await Promise.all(rows.map((row) => replica.submit(postAny(toReported(row), now, active))));
          const spend = rows.map((row, index) => ({ ...toReported(row), settled: posted[index]!.settled }));
          return replica.submit(addPage({ fill, seq }, { spend, cursor, readUntil: fill.from }, active));
        });
        for (const row of rows) this.reference.take(row, active.all);
      }
    }
    this.reference.meters.fill(active.all);
  }
}

function toReported({ call, ...spend }: Spend) {
  const { model, labels } = call;
  return { ...spend, model, labels };
}
