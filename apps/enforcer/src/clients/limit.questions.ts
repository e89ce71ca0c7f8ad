import type { BudgetScope, BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, roomFor, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { Limit } from '../domain/limit.ts';
import { type Account, accountsOf, budgetsIn } from './limit.account.ts';

/** Deadline for budgets. A call waits for at most two answers and must be decided within 500 ms. */
const DEADLINE_MS = 200;
/** Time without questions about a workspace after budgets failed. */
const PAUSE_MS = 1000;
/** Maximum number of ids of each kind in one question (budgets.proto). */
export const MAX_ASKED = 1000;
const MAX_WORKSPACES = 10_000;

/** The answer of budgets about an account. */
export interface Known {
  /** When budgets was asked. */
  at: number;
  /** Null if no budget is set, or the plan does not exist. */
  limit: Limit | null;
  /** Whether the plan is active; true for other accounts. */
  isActive: boolean;
}

/** A question about a workspace's budget and those of some of its accounts. */
interface Question {
  agentIds: Set<string>;
  planKeys: Set<string>;
  sent: boolean;
  /** Resolves once the answer is in the cache. */
  answered: Promise<void>;
}

/** The questions about a workspace: the one in progress and the next ones. */
interface Turn {
  questions: Question[];
  /** When budgets may be asked again after a failure; null after an answer. */
  retryAt: number | null;
}

export interface LimitQuestionsDeps {
  budgets: GrpcClient<BudgetsServiceDefinition>;
  /** The cached answers, by account key. */
  known: { set(key: string, known: Known): unknown };
  logger: Logger;
  now: () => number;
}

/** Asks budgets one question about a workspace at a time. Calls that arrive meanwhile share the next question. */
export interface LimitQuestions {
  turnOf(tenantId: TenantId): Turn;
  /**
   * Resolves once the answer is cached. Rejects with `service_unavailable`; later questions in the queue are then
   * rejected without being asked.
   */
  ask(tenantId: TenantId, turn: Turn, accounts: Account[]): Promise<void>;
}

export function createLimitQuestions({ budgets, known, logger, now }: LimitQuestionsDeps): LimitQuestions {
  // If a workspace is evicted during a question, a second question may run in parallel, which does no harm.
  const turns = new LRUCache<TenantId, Turn>(roomFor(MAX_WORKSPACES));
  const warn = createSparingWarner(logger, now, 'budgets does not answer; the last known limits stay in force');

  function append(tenantId: TenantId, turn: Turn): Question {
    const before = turn.questions.at(-1)?.answered ?? Promise.resolve();
    const question: Question = {
      agentIds: new Set(),
      planKeys: new Set(),
      sent: false,
      answered: before.then(() => send(tenantId, turn, question)).finally(() => turn.questions.shift()),
    };
    // There may be nobody to handle the rejection.
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
      const set = new Map(budgetsIn(tenantId, answer).map((budget) => [budget.account.key, budget]));
      for (const { key } of accountsOf(tenantId, { workspace: [tenantId], agent: agentIds, plan: planKeys })) {
        const budget = set.get(key);
        known.set(key, { at, limit: budget?.limit ?? null, isActive: budget?.isActive ?? true });
      }
      turn.retryAt = null;
    } catch (error) {
      turn.retryAt = now() + PAUSE_MS;
      warn({ err: error });
      throw unavailable(error);
    }
  }

  return {
    turnOf(tenantId) {
      const present = turns.get(tenantId);
      if (present !== undefined) return present;
      const turn: Turn = { questions: [], retryAt: null };
      turns.set(tenantId, turn);
      return turn;
    },
    ask(tenantId, turn, accounts) {
      const agentIds = idsOf(accounts, 'agent');
      const planKeys = idsOf(accounts, 'plan');
      const [current] = turn.questions;
      if (current !== undefined && covers(current, agentIds, planKeys)) return current.answered;
      const last = turn.questions.at(-1);
      const open = last !== undefined && hasRoom(last, agentIds, planKeys) ? last : append(tenantId, turn);
      for (const agentId of agentIds) open.agentIds.add(agentId);
      for (const planKey of planKeys) open.planKeys.add(planKey);
      return open.answered;
    },
  };
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

export function unavailable(cause?: unknown): AppError {
  const message = 'The budgets of the workspace cannot be read right now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
