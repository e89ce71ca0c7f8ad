import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger, Metrics } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { DailyLimit } from '../domain/limit.ts';
import type { LimitSource } from '../domain/peers.ts';
import { type Account, accountsOf, budgetsIn } from './limit.account.ts';
import { createLimitQuestions, type Known, unavailable } from './limit.questions.ts';

/** How long an answer is used, from its question on. With the deadline, a changed budget applies within 2 s. */
const FRESH_MS = 1500;
const LIST_DEADLINE_MS = 900;
const MAX_KNOWN_ACCOUNTS = 100_000;
const LOOKED_UP_AT_ONCE = 1_000;

export interface LimitSourceDeps {
  budgets: GrpcClient<BudgetsServiceDefinition>;
  logger: Logger;
  /** Registers the counter `enforcer_stale_limits_total`. */
  metrics: Metrics;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

/**
 * Asks budgets, and keeps the answers in a bounded cache. What is missing or old is asked in one question per workspace
 * at a time; calls that arrive meanwhile share the next question.
 *
 * While budgets fails, the last known limits stay in force, however old. Calls whose limits are known stop waiting for
 * budgets until it answers again.
 */
export function createLimitSource({ budgets, logger, metrics, now }: LimitSourceDeps): LimitSource {
  const known = new LRUCache<string, Known>(roomFor(MAX_KNOWN_ACCOUNTS));
  const questions = createLimitQuestions({ budgets, known, logger, now });
  const staleAnswers = metrics.counter({
    name: 'enforcer_stale_limits_total',
    help: 'Limit lookups answered with the last known limits because budgets did not answer',
  });

  /** The cached answers about the accounts; synchronous if all are fresh. */
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
    const keys = old.map(({ key }) => key);
    const { answered, hasFailed } = questions.ask(tenantId, keys);
    if (last !== null && hasFailed) {
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
    const all = accounts.map(({ key }) => known.get(key));
    if (all.some((entry) => entry === undefined)) throw unavailable();
    return all as Known[];
  }

  return {
    // Not async, so that a call whose limits are fresh costs only a few look-ups.
    applying(tenantId, { agentId, planKey }) {
      const plan = planKey === null ? [] : [planKey];
      const accounts = accountsOf(tenantId, { workspace: [tenantId], agent: [agentId], plan });
      const found = lookUp(tenantId, accounts);
      const toAnswer = (all: Known[]) => toApplying(accounts, all);
      return found instanceof Promise ? found.then(toAnswer) : Promise.resolve(toAnswer(found));
    },

    async of(tenantId, chosen) {
      const accounts = accountsOf(tenantId, { workspace: [tenantId], ...chosen });
      const limits: DailyLimit[] = [];
      // Bounded, since what the cache has no room for would be missing from the answer.
      for (let start = 0; start < accounts.length; start += LOOKED_UP_AT_ONCE) {
        const found = await lookUp(tenantId, accounts.slice(start, start + LOOKED_UP_AT_ONCE));
        limits.push(...found.flatMap(({ limit }) => limit ?? []));
      }
      return limits;
    },

    async all(tenantId) {
      try {
        const answer = await budgets.listBudgets({ tenantId }, { deadlineMs: LIST_DEADLINE_MS });
        return budgetsIn(tenantId, answer).map(({ limit }) => limit);
      } catch (error) {
        throw unavailable(error);
      }
    },
  };
}

/** Only plans can be inactive. */
function toApplying(accounts: Account[], found: Known[]): Awaited<ReturnType<LimitSource['applying']>> {
  const limits = found.flatMap(({ limit, isActive }) => (isActive ? (limit ?? []) : []));
  const plan = found[accounts.findIndex(({ scope }) => scope === 'plan')];
  if (plan === undefined) return { limits, plan: 'none' };
  if (plan.limit === null) return { limits, plan: 'unknown' };
  return { limits, plan: plan.isActive ? 'active' : 'inactive' };
}

function isSince(entry: Known | undefined, oldest: number): boolean {
  return entry !== undefined && entry.at >= oldest;
}
