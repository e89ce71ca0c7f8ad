import { AppError, type Clock, type TenantId } from '@tollkeeper/kernel';
import { type ActiveBudgets, budgetedCall } from './active.budgets.ts';
import { GATEWAY_ANSWER_MS, within } from './answer.time.ts';
import type { Ask, Submit } from './decision.ts';
import { type DenialReporter, REPORT_MS } from './denial.reporter.ts';
import type { DeniedRequest } from './enforcement.events.ts';
import { type Applying, labelsOf, type UsedUp, UsedUpError } from './grant.ts';
import type { Denial } from './limit.ts';
import { withNewestBudgets } from './newest.budgets.ts';
import type { AgentLabelSource, AgentRegistrar, ApplyingLimits, BudgetSource, LimitSource } from './peers.ts';
import { withRaises } from './limit.rows.ts';
import type { ReservationRequest, ReservingKey } from './reservation.ts';

export interface GrantingDeps {
  submit: Submit;
  denials: Pick<DenialReporter, 'report'>;
  limits: LimitSource;
  budgets: BudgetSource;
  agents: AgentRegistrar;
  agentLabels: AgentLabelSource;
  clock: Clock;
  onDecision: (decision: 'allowed' | 'denied' | 'paused') => void;
  /** Called for each request that is refused because its workspace has reached a maximum. */
  onUsedUp: (tenantId: TenantId, what: UsedUp) => void;
}

/** Time for a decision; the rest is for reporting a denial. */
const DECIDE_MS = GATEWAY_ANSWER_MS - REPORT_MS;

type Asked = Pick<ReservationRequest, 'agentId' | 'planKey' | 'model' | 'provider' | 'labels'>;
type Decided = { decision: 'allowed' } | { decision: 'denied'; denial: Denial };

/** How a request is granted. */
export interface GrantSteps<Request, Decision> {
  toAsk(request: Request & Applying, budgets: ActiveBudgets): Ask<Decision>;
  /** The request as its denial is reported. */
  toDenied(request: Request): Omit<DeniedRequest, 'keyId' | 'labels'>;
  isDry: boolean;
}

/** Finds what applies to calls of an agent under a plan, but for the limits of budgets, and those budgets. */
export function createLook({ limits, budgets, agentLabels }: Pick<GrantingDeps, 'limits' | 'budgets' | 'agentLabels'>) {
  return async function look(tenantId: TenantId, call: Pick<Asked, 'agentId' | 'planKey'>) {
    const { agentId } = call;
    // Nearly all is known, and then waiting for it would cost a turn.
    const [known, active] = [agentLabels.labelsOf(tenantId, [agentId]), budgets.of(tenantId)];
    const asked = limits.applying(tenantId, call);
    const isKnown = !(known instanceof Promise) && !(active instanceof Promise);
    const [applying, ofAgents, budgetsNow] = isKnown
      ? [await asked, known, active]
      : await Promise.all([asked, known, active]);
    return { plan: applying.plan, daily: applying.limits, ofAgent: ofAgents.get(agentId) ?? {}, budgetsNow };
  };
}

/** Grants requests for reservations and leases: finds what applies to them, and reports what becomes of them. */
export function createGranting(deps: GrantingDeps) {
  const { submit, denials, budgets, agents, clock } = deps;
  const look = createLook(deps);

  return async function grant<Request extends Asked, Decision extends Decided>(
    { tenantId, keyId, labels: pinned }: ReservingKey,
    request: Request,
    { toAsk, toDenied, isDry }: GrantSteps<Request, Decision>,
  ): Promise<Decision> {
    const deadline = performance.now() + DECIDE_MS;
    const decide = async () => {
      const { plan, daily, ofAgent, budgetsNow } = await look(tenantId, request);
      requirePlan(plan, request.planKey);
      const labels = labelsOf({ pinned, ofAgent, labels: request.labels });
      const call = budgetedCall({ ...request, keyId, labels });
      const decided = (active: ActiveBudgets) => {
        const now = clock();
        const limits = [...withRaises(daily, active.raises), ...active.limitsFor(call, now)];
        const applying = { keyId, pinned, ofAgent, limits, pause: active.pauses.of(call, now) };
        return submit(tenantId, { ...toAsk({ ...request, ...applying }, active), deadline });
      };
      return { decision: await withNewestBudgets(budgets, tenantId, decided, budgetsNow), labels };
    };
    const { decision, labels } = await within(DECIDE_MS, decide()).catch((error: unknown) => {
      if (error instanceof UsedUpError) deps.onUsedUp(tenantId, error.what);
      throw error;
    });
    if (isDry) return decision;
    deps.onDecision(decision.decision === 'denied' && decision.denial.pause ? 'paused' : decision.decision);
    if (decision.decision === 'allowed') agents.seen(tenantId, request.agentId);
    else await denials.report(tenantId, { ...toDenied(request), keyId, labels }, decision.denial);
    return decision;
  };
}

/** Whether calls under the plan are possible. */
export function isUsable(plan: ApplyingLimits['plan']): boolean {
  return plan === 'none' || plan === 'active';
}

function requirePlan(plan: ApplyingLimits['plan'], planKey: string | null): void {
  if (isUsable(plan)) return;
  const message = plan === 'unknown' ? 'must be a plan of this workspace' : 'must be an active plan';
  throw new AppError('invalid_request', `Calls under the plan ${planKey} are not possible. Name an active plan.`, {
    details: [{ path: 'plan_key', message }],
  });
}
