import { tookTooLong, GATEWAY_ANSWER_MS, within } from './answer.time.ts';
import type { Ask } from './decision.ts';
import { spendFromLease } from './enforcement.events.ts';
import { createGranting, createLook, type GrantingDeps, type GrantSteps, isUsable } from './granting.ts';
import { grantLease } from './lease.grant.ts';
import { readGrant, readLease, renewLease, returnLease } from './lease.hold.ts';
import { settleLease } from './lease.settle.ts';
import type { LeaseDecision, LeaseRequest, Leases, LeaseSettlement } from './lease.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import { type AppendEvents, createWorkspaceAppends } from './workspace.appends.ts';
import type { TenantId } from '@tollkeeper/kernel';

/** Maximum number of settlements that wait for the log: ten full requests of a workspace. */
const MAX_PENDING = { ofWorkspace: 10_000, ofAll: 20_000 };

/** Beyond it, all are forgotten, and repeated settlements are in the log once more. */
const MAX_UNSURE = 10_000;

export interface LeaseDeps extends GrantingDeps {
  append: AppendEvents;
}

export function createLeases(deps: LeaseDeps): Leases {
  const { submit, budgets, clock } = deps;
  const grant = createGranting(deps);
  const look = createLook(deps);
  const appends = createWorkspaceAppends(deps.append, MAX_PENDING);
  const inTurn = createTurns();
  /** Leases whose last settlements failed. Their gateways repeat them, and the log may have them already. */
  const unsure = new Set<string>();

  /** Submits an ask. It is dropped once its caller no longer waits for it. */
  function submitWithin<Answer>(tenantId: TenantId, ask: Ask<Answer>): Promise<Answer> {
    const deadline = performance.now() + GATEWAY_ANSWER_MS;
    return within(GATEWAY_ANSWER_MS, submit(tenantId, { ...ask, deadline }));
  }

  async function settle(tenantId: TenantId, id: string, settlements: readonly LeaseSettlement[], deadline: number) {
    const repeats = unsure.has(`${tenantId}/${id}`) ? settlements.map(({ settlementId }) => settlementId) : [];
    const asked = budgets.of(tenantId);
    const known = asked instanceof Promise ? await asked.catch(() => undefined) : asked;
    const { lease, counted } = await submit(tenantId, { ...readGrant(id, repeats), deadline });
    if (performance.now() >= deadline) throw tookTooLong();
    // The events come first: if this process dies after them, they settle the calls.
    const now = clock();
    const fresh = settlements.filter(({ settlementId }) => !counted.has(settlementId));
    await Promise.all(fresh.map((each) => appends.append(tenantId, spendFromLease(tenantId, lease, each, now))));
    if (known === undefined) return submit(tenantId, settleLease(id, settlements));
    const settled = (active: typeof known) => submit(tenantId, settleLease(id, settlements, active));
    return withNewestBudgets(budgets, tenantId, settled, known);
  }

  return {
    grant: (key, request) => grant(key, request, STEPS),
    get: (tenantId, id) => submitWithin(tenantId, readLease(id)),
    async settle(tenantId, id, settlements) {
      const deadline = performance.now() + GATEWAY_ANSWER_MS;
      const key = `${tenantId}/${id}`;
      try {
        const work = inTurn(key, () => settle(tenantId, id, settlements, deadline));
        const settled = await within(GATEWAY_ANSWER_MS, work);
        unsure.delete(key);
        return settled;
      } catch (error) {
        if (unsure.size >= MAX_UNSURE) unsure.clear();
        unsure.add(key);
        throw error;
      }
    },
    renew({ tenantId, keyId, labels: pinned }, id, request) {
      const deadline = performance.now() + GATEWAY_ANSWER_MS;
      const work = async () => {
        const { lease } = await submit(tenantId, { ...readGrant(id), deadline });
        const { plan, budgetsNow, ...applying } = await look(tenantId, lease);
        const now = { ...applying, keyId, pinned, isPlanUsable: isUsable(plan) };
        const renewed = (active: typeof budgetsNow) =>
          submit(tenantId, { ...renewLease(id, request, { ...now, budgets: active }), deadline });
        return withNewestBudgets(budgets, tenantId, renewed, budgetsNow);
      };
      return within(GATEWAY_ANSWER_MS, work());
    },
    return: (tenantId, id, cause) => submitWithin(tenantId, returnLease(id, cause)),
  };
}

const STEPS: GrantSteps<LeaseRequest, LeaseDecision> = {
  toAsk: grantLease,
  toDenied: ({ minMicros, runId, ...request }) => ({
    ...request,
    runId: runId ?? request.requestId,
    amountMicros: minMicros,
  }),
  isDry: false,
};

/**
 * Settlements from a lease are in the log in the order in which they are counted: of two with the same id, everybody
 * counts the first. So requests for the same lease take turns.
 */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = last.get(key);
    const turn = before === undefined ? work() : before.then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}
