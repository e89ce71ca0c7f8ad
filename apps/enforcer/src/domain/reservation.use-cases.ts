import { AppError, type TenantId } from '@tollkeeper/kernel';
import type { ActiveBudgets } from './active.budgets.ts';
import { GATEWAY_ANSWER_MS, within } from './answer.time.ts';
import { type Ask, rehearse } from './decision.ts';
import { spendSettled } from './enforcement.events.ts';
import type { Decision, Reservations } from './enforcement.ts';
import { createGranting, type GrantingDeps } from './granting.ts';
import { extend, read, release } from './hold.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import { reserve } from './reserve.ts';
import { settle, SETTLEMENT_OF_ANOTHER } from './settle.ts';
import type { AppendEvents } from './workspace.appends.ts';

export interface ReservationDeps extends GrantingDeps {
  append: AppendEvents;
}

export function createReservations(deps: ReservationDeps): Reservations {
  const { submit, append, budgets, clock } = deps;
  const grant = createGranting(deps);
  const settling = createSettling();

  /** Submits an ask. It is dropped after `ms`, since its caller no longer waits for it. */
  function submitWithin<Answer>(ms: number, tenantId: TenantId, ask: Ask<Answer>): Promise<Answer> {
    return within(ms, submit(tenantId, { ...ask, deadline: performance.now() + ms }));
  }

  return {
    reserve: (key, request, { dryRun = false } = {}) =>
      grant(key, request, {
        toAsk: (applied, active): Ask<Decision> => reserve({ ...applied, dryRun }, active),
        toDenied: (denied) => denied,
        isDry: dryRun,
      }),

    get: (tenantId, id) => submitWithin(GATEWAY_ANSWER_MS, tenantId, read(id)),

    settle(tenantId, id, settlement) {
      const deadline = performance.now() + GATEWAY_ANSWER_MS;
      const work = async () => {
        // Nearly always known, and then waiting would cost a turn.
        const asked = budgets.of(tenantId);
        const known = asked instanceof Promise ? await asked.catch(() => undefined) : asked;
        const { answer, changes } = await submit(tenantId, { ...rehearse(settle(id, settlement, known)), deadline });
        if (!changes) return answer;
        // The event comes first: if this process dies after it, the event settles the reservation.
        await append(tenantId, [spendSettled(tenantId, answer, settlement, clock())]);
        const settled = (active?: ActiveBudgets) => submit(tenantId, settle(id, settlement, active));
        const all = known === undefined ? settled() : withNewestBudgets(budgets, tenantId, settled, known);
        return all.catch(explainConflict);
      };
      return within(GATEWAY_ANSWER_MS, settling.whileSettling(tenantId, id, settlement.settlementId, work));
    },

    async release(tenantId, id, cause) {
      settling.requireNone(tenantId, id);
      return submitWithin(GATEWAY_ANSWER_MS, tenantId, release(id, cause));
    },
    extend: (tenantId, id, ttlSeconds) => submitWithin(GATEWAY_ANSWER_MS, tenantId, extend(id, ttlSeconds)),
  };
}

/** Another replica has ended the reservation meanwhile. The event is already in the log, so its spend counts. */
function explainConflict(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== 'conflict' || error.message === SETTLEMENT_OF_ANOTHER) throw error;
  const message = 'Another request ended the reservation first. The spend counts as unreserved.';
  throw new AppError('conflict', message, { cause: error });
}

/**
 * The settlements in progress in this process. Between its event and its op, another settlement or a release could end
 * the reservation, and the spend would count as unreserved. Within this process such requests are refused at once;
 * across replicas, the slower one reports the conflict. Repeats of a settlement share the work in progress, since a
 * second event could have another amount than the one posted.
 */
function createSettling() {
  const inFlight = new Map<string, { settlementId: string; work: Promise<unknown> }>();
  const refuse = (): never => {
    throw new AppError('conflict', 'Another request is settling this reservation. Read it to see the settlement.');
  };

  return {
    requireNone(tenantId: TenantId, id: string): void {
      if (inFlight.has(`${tenantId}/${id}`)) refuse();
    },
    async whileSettling<T>(tenantId: TenantId, id: string, settlementId: string, begin: () => Promise<T>): Promise<T> {
      const key = `${tenantId}/${id}`;
      const known = inFlight.get(key);
      if (known !== undefined) return known.settlementId === settlementId ? (known.work as Promise<T>) : refuse();
      const work = begin().finally(() => inFlight.delete(key));
      inFlight.set(key, { settlementId, work });
      return work;
    },
  };
}
