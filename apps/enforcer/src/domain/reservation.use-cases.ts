import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { type ActiveBudgets, budgetedCall } from './active.budgets.ts';
import { GATEWAY_ANSWER_MS, within } from './answer.time.ts';
import { type Ask, type LongRead, rehearse } from './decision.ts';
import { type DenialReporter, REPORT_MS } from './denial.reporter.ts';
import { spendSettled } from './enforcement.events.ts';
import type { Decision, Reservations } from './enforcement.ts';
import { extend, read, release } from './hold.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import type { AgentLabelSource, AgentRegistrar, ApplyingLimits, BudgetSource, LimitSource } from './peers.ts';
import { labelsOf, reserve, type UsedUp, UsedUpError } from './reserve.ts';
import { settle, SETTLEMENT_OF_ANOTHER } from './settle.ts';
import type { AppendEvents } from './workspace.appends.ts';

/** Decides requests on the newest ledger of their workspace, and appends their changes to its journal. */
export type Submit = <Answer>(tenantId: TenantId, ask: Ask<Answer> | LongRead<Answer>) => Promise<Answer>;

export interface ReservationDeps {
  submit: Submit;
  append: AppendEvents;
  denials: Pick<DenialReporter, 'report'>;
  limits: LimitSource;
  budgets: BudgetSource;
  agents: AgentRegistrar;
  agentLabels: AgentLabelSource;
  clock: Clock;
  onDecision: (decision: Decision['decision']) => void;
  /** Called for each request that is refused because its workspace has reached a maximum. */
  onUsedUp: (tenantId: TenantId, what: UsedUp) => void;
}

/** Time for a decision; the rest is for reporting a denial. */
const DECIDE_MS = GATEWAY_ANSWER_MS - REPORT_MS;

export function createReservations(deps: ReservationDeps): Reservations {
  const { submit, append, denials, limits, budgets, agents, agentLabels, clock } = deps;

  const settling = createSettling();

  /** Submits an ask. It is dropped after `ms`, since its caller no longer waits for it. */
  function submitWithin<Answer>(ms: number, tenantId: TenantId, ask: Ask<Answer>): Promise<Answer> {
    return within(ms, submit(tenantId, { ...ask, deadline: performance.now() + ms }));
  }

  return {
    async reserve({ tenantId, keyId, labels: pinned }, request, { dryRun = false } = {}) {
      const deadline = performance.now() + DECIDE_MS;
      const { agentId } = request;
      const decide = async () => {
        // Nearly all is known, and then waiting for it would cost a turn.
        const [known, active] = [agentLabels.labelsOf(tenantId, [agentId]), budgets.of(tenantId)];
        const asked = limits.applying(tenantId, request);
        const isKnown = !(known instanceof Promise) && !(active instanceof Promise);
        const [applying, ofAgents, budgetsNow] = isKnown
          ? [await asked, known, active]
          : await Promise.all([asked, known, active]);
        requirePlan(applying.plan, request.planKey);
        const labelled = { ...request, keyId, pinned, ofAgent: ofAgents.get(agentId) ?? {}, dryRun };
        const call = budgetedCall({ ...request, keyId, labels: labelsOf(labelled) });
        const decided = (active: ActiveBudgets) => {
          const all = [...applying.limits, ...active.limitsFor(call, clock())];
          return submit(tenantId, { ...reserve({ ...labelled, limits: all }, active), deadline });
        };
        return { decision: await withNewestBudgets(budgets, tenantId, decided, budgetsNow), labelled };
      };
      const { decision, labelled } = await within(DECIDE_MS, decide()).catch((error: unknown) => {
        if (error instanceof UsedUpError) deps.onUsedUp(tenantId, error.what);
        throw error;
      });
      if (dryRun) return decision;
      deps.onDecision(decision.decision);
      if (decision.decision === 'allowed') {
        agents.seen(tenantId, agentId);
        return decision;
      }
      await denials.report(tenantId, { ...request, keyId, labels: labelsOf(labelled) }, decision.denial);
      return decision;
    },

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

function requirePlan(plan: ApplyingLimits['plan'], planKey: string | null): void {
  if (plan !== 'unknown' && plan !== 'inactive') return;
  const message = plan === 'unknown' ? 'must be a plan of this workspace' : 'must be an active plan';
  throw new AppError('invalid_request', `Calls under the plan ${planKey} are not possible. Name an active plan.`, {
    details: [{ path: 'plan_key', message }],
  });
}
