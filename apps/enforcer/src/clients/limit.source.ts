import type { BudgetScope, BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger, type Metrics } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { Limit } from '../domain/limit.ts';
import type { LimitSource } from '../domain/peers.ts';

/** How long an answer is used, from the question on. With the deadline, a changed budget counts within 2 s. */
const FRESH_MS = 1500;
/** Longest that budgets may take. A call waits for two answers at most, and it has its decision within 500 ms. */
const DEADLINE_MS = 200;
const LIST_DEADLINE_MS = 900;
/** Budgets is not asked about a workspace for so long after it failed. */
const PAUSE_MS = 1000;
/** Most ids of each kind in one question (budgets.proto). */
const MAX_ASKED = 1000;
const MAX_KNOWN_ACCOUNTS = 100_000;
const MAX_WORKSPACES = 10_000;

export interface LimitSourceDeps {
  budgets: GrpcClient<BudgetsServiceDefinition>;
  logger: Logger;
  /** Takes the counter `enforcer_stale_limits_total`. */
  metrics: Metrics;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

interface Account {
  scope: BudgetScope;
  scopeId: string;
  /** In the cache. */
  key: string;
}

/** What budgets said about an account. */
interface Known {
  /** When it was asked. */
  at: number;
  /** Null if no budget is set, or the plan does not exist. */
  limit: Limit | null;
  /** Of a plan. */
  isActive: boolean;
}

/** A question about accounts of one workspace, and its own budget. */
interface Question {
  agentIds: Set<string>;
  planKeys: Set<string>;
  sent: boolean;
  /** Resolves once the answer is in the cache. */
  answered: Promise<void>;
}

/** The questions about a workspace: the one under way, and those that wait for it. */
interface Turn {
  questions: Question[];
  /** When budgets may be asked again after it failed; null since it answered. */
  retryAt: number | null;
}

/**
 * Asks budgets, and keeps the answers in a bounded cache. What is missing or old is asked in one question about a
 * workspace at a time; calls that come meanwhile share the next one.
 *
 * When budgets fails, the last known limits stay in force, however old, and calls that know theirs wait no more until
 * it answers again.
 */
export function createLimitSource({ budgets, logger, metrics, now }: LimitSourceDeps): LimitSource {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN_ACCOUNTS });
  // A workspace that drops out while it is asked about may be asked about twice at once, which does no harm.
  const turns = new LRUCache<TenantId, Turn>({ max: MAX_WORKSPACES });
  const warn = createSparingWarner(logger, now, 'budgets does not answer; the last known limits stay in force');
  const staleAnswers = metrics.counter({
    name: 'enforcer_stale_limits_total',
    help: 'Look-ups of limits answered with the last known ones because budgets did not answer',
  });

  /** What is known of the accounts: at once when all of it is fresh. */
  function lookUp(tenantId: TenantId, accounts: Account[]): Known[] | Promise<Known[]> {
    const oldest = now() - FRESH_MS;
    const found = accounts.map(({ key }) => known.get(key));
    const old = accounts.filter((_account, index) => !isSince(found[index], oldest));
    return old.length === 0 ? (found as Known[]) : refresh(tenantId, { accounts, found, old });
  }

  async function refresh(
    tenantId: TenantId,
    { accounts, found, old }: { accounts: Account[]; found: (Known | undefined)[]; old: Account[] },
  ): Promise<Known[]> {
    const last = found.every((entry) => entry !== undefined) ? found : null;
    const turn = turnOf(tenantId);
    const isPaused = turn.retryAt !== null && now() < turn.retryAt;
    if (last === null && isPaused) throw unavailable();
    const answered = isPaused ? null : ask(tenantId, turn, old);
    if (last !== null && turn.retryAt !== null) {
      staleAnswers.inc();
      return last;
    }
    try {
      await answered;
    } catch (error) {
      if (last === null) throw error;
      staleAnswers.inc();
      return last;
    }
    return accounts.map(({ key }) => known.get(key)!);
  }

  function turnOf(tenantId: TenantId): Turn {
    const present = turns.get(tenantId);
    if (present !== undefined) return present;
    const turn: Turn = { questions: [], retryAt: null };
    turns.set(tenantId, turn);
    return turn;
  }

  /** Rejects with `service_unavailable`; then the questions behind it do so too, without being asked. */
  function ask(tenantId: TenantId, turn: Turn, accounts: Account[]): Promise<void> {
    const agentIds = idsOf(accounts, 'agent');
    const planKeys = idsOf(accounts, 'plan');
    const [current] = turn.questions;
    if (current !== undefined && covers(current, agentIds, planKeys)) return current.answered;
    const last = turn.questions.at(-1);
    const open = last !== undefined && hasRoom(last, agentIds, planKeys) ? last : append(tenantId, turn);
    for (const agentId of agentIds) open.agentIds.add(agentId);
    for (const planKey of planKeys) open.planKeys.add(planKey);
    return open.answered;
  }

  function append(tenantId: TenantId, turn: Turn): Question {
    const before = turn.questions.at(-1)?.answered ?? Promise.resolve();
    const question: Question = {
      agentIds: new Set(),
      planKeys: new Set(),
      sent: false,
      answered: before.then(() => send(tenantId, turn, question)).finally(() => turn.questions.shift()),
    };
    // Nobody may wait for it.
    question.answered.catch(() => {});
    turn.questions.push(question);
    return question;
  }

  async function send(tenantId: TenantId, turn: Turn, question: Question): Promise<void> {
    question.sent = true;
    const at = now();
    const agentIds = [...question.agentIds];
    const planKeys = [...question.planKeys];
    try {
      const answer = await budgets.getBudgets({ tenantId, agentIds, planKeys }, { deadlineMs: DEADLINE_MS });
      const ofAgents = new Map(answer.agents.map((agent) => [agent.agentId, agent.dailyBudgetUsdMicros]));
      const ofPlans = new Map(answer.plans.map((plan) => [plan.planKey, plan]));
      const keep = (account: Account, micros: string | undefined, isActive = true) =>
        known.set(account.key, { at, limit: micros === undefined ? null : toLimit(account, micros), isActive });

      keep(workspaceAccount(tenantId), answer.dailyBudgetUsdMicros);
      for (const agentId of agentIds) keep(agentAccount(tenantId, agentId), ofAgents.get(agentId));
      for (const planKey of planKeys) {
        const plan = ofPlans.get(planKey);
        keep(planAccount(tenantId, planKey), plan?.dailyBudgetUsdMicros, plan?.isActive);
      }
      turn.retryAt = null;
    } catch (error) {
      turn.retryAt = now() + PAUSE_MS;
      warn({ err: error });
      throw unavailable(error);
    }
  }

  return {
    // Not async, so that a call whose limits are fresh costs a few look-ups.
    applying(tenantId, { agentId, planKey }) {
      const accounts = [workspaceAccount(tenantId), agentAccount(tenantId, agentId)];
      if (planKey !== null) accounts.push(planAccount(tenantId, planKey));
      const found = lookUp(tenantId, accounts);
      return found instanceof Promise ? found.then(toApplying) : Promise.resolve(toApplying(found));
    },

    async of(tenantId, { agentIds, planKeys }) {
      const chosen = [
        ...agentIds.map((agentId) => agentAccount(tenantId, agentId)),
        ...planKeys.map((planKey) => planAccount(tenantId, planKey)),
      ];
      const found = [await lookUp(tenantId, [workspaceAccount(tenantId), ...chosen.slice(0, MAX_ASKED)])];
      for (let start = MAX_ASKED; start < chosen.length; start += MAX_ASKED) {
        found.push(await lookUp(tenantId, chosen.slice(start, start + MAX_ASKED)));
      }
      return found.flat().flatMap(({ limit }) => limit ?? []);
    },

    async all(tenantId) {
      try {
        const answer = await budgets.listBudgets({ tenantId }, { deadlineMs: LIST_DEADLINE_MS });
        const { dailyBudgetUsdMicros: daily, agents, plans } = answer;
        return [
          ...(daily === undefined ? [] : [toLimit(workspaceAccount(tenantId), daily)]),
          ...agents.map((agent) => toLimit(agentAccount(tenantId, agent.agentId), agent.dailyBudgetUsdMicros)),
          ...plans.map((plan) => toLimit(planAccount(tenantId, plan.planKey), plan.dailyBudgetUsdMicros)),
        ];
      } catch (error) {
        throw unavailable(error);
      }
    },
  };
}

// No id has a slash.
function workspaceAccount(tenantId: TenantId): Account {
  return { scope: 'workspace', scopeId: tenantId, key: tenantId };
}

function agentAccount(tenantId: TenantId, agentId: string): Account {
  return { scope: 'agent', scopeId: agentId, key: `${tenantId}/agent/${agentId}` };
}

function planAccount(tenantId: TenantId, planKey: string): Account {
  return { scope: 'plan', scopeId: planKey, key: `${tenantId}/plan/${planKey}` };
}

function toLimit({ scope, scopeId }: Account, micros: string): Limit {
  return { scope, scopeId, dailyBudgetMicros: Number(micros) };
}

/** Of a workspace, an agent and, if the call has one, a plan. */
function toApplying([workspace, agent, plan]: Known[]): Awaited<ReturnType<LimitSource['applying']>> {
  const applying = [workspace, agent, plan?.isActive ? plan : undefined];
  const limits = applying.flatMap((entry) => entry?.limit ?? []);
  if (plan === undefined) return { limits, plan: 'none' };
  if (plan.limit === null) return { limits, plan: 'unknown' };
  return { limits, plan: plan.isActive ? 'active' : 'inactive' };
}

function isSince(entry: Known | undefined, oldest: number): boolean {
  return entry !== undefined && entry.at >= oldest;
}

function idsOf(accounts: Account[], scope: BudgetScope): string[] {
  return accounts.filter((account) => account.scope === scope).map(({ scopeId }) => scopeId);
}

function covers(question: Question, agentIds: string[], planKeys: string[]): boolean {
  return agentIds.every((id) => question.agentIds.has(id)) && planKeys.every((key) => question.planKeys.has(key));
}

function hasRoom(question: Question, agentIds: string[], planKeys: string[]): boolean {
  if (question.sent) return false;
  const { agentIds: agents, planKeys: plans } = question;
  return agents.size + agentIds.length <= MAX_ASKED && plans.size + planKeys.length <= MAX_ASKED;
}

function unavailable(cause?: unknown): AppError {
  const message = 'The budgets of the workspace cannot be read just now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
