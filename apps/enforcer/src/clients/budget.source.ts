import {
  type BudgetEach,
  type BudgetsServiceDefinition,
  fromWirePeriod,
  grantableMicros,
  toPauseScope,
} from '@tollkeeper/contracts';
import { createQuestions, type GrpcClient, isUnimplemented } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import { type ActiveBudget, type ActiveBudgets, createActiveBudgets } from '../domain/active.budgets.ts';
import { createPauses, type Pause } from '../domain/pause.ts';
import type { BudgetSource } from '../domain/peers.ts';
import { createRaises, type Raise } from '../domain/raise.ts';
import { unavailable } from './limit.questions.ts';

/** How long an answer is used, from its question on. With the deadline, a changed budget applies within 2 s. */
const FRESH_MS = 1_500;
const DEADLINE_MS = 200;
/** For the cache, in which each workspace, each pause and each raise counts as a further budget. */
const MAX_KNOWN_BUDGETS = 20_000;

export interface BudgetSourceDeps {
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'listActiveBudgets'>;
  logger: Logger;
  /** A monotonic clock in milliseconds. */
  now: () => number;
}

/** Asks budgets, and keeps the answers in a bounded cache. While budgets fails, the last known ones stay in force. */
export function createBudgetSource({ budgets, logger, now }: BudgetSourceDeps): BudgetSource {
  const known = new LRUCache<TenantId, ActiveBudgets>({
    maxSize: MAX_KNOWN_BUDGETS,
    sizeCalculation: ({ all, pauses, raises }: ActiveBudgets) => 1 + all.length + pauses.count + raises.count,
  });
  const questions = createQuestions(ask, now);
  const warn = createSparingWarner(logger, now, 'budgets does not answer; the last known budgets stay in force');

  async function ask(tenantId: TenantId): Promise<void> {
    const at = now();
    const answer = await budgets
      .listActiveBudgets({ tenantId }, { deadlineMs: DEADLINE_MS })
      .catch((error: unknown) => {
        // Release 0.1.0 of budgets has no such budgets. Beside a newer replica, those of the newer one stay in force.
        if (isUnimplemented(error) && !known.has(tenantId)) return null;
        warn({ err: error });
        throw unavailable(error);
      });
    const found = answer?.budgets ?? [];
    const unknown = found.filter((each) => toActiveBudget(each).length === 0).map(meterOf);
    const pauses = createPauses((answer?.pauses ?? []).flatMap(toPause));
    const raises = createRaises((answer?.raises ?? []).map(toRaise));
    const complete = { unknown, isCertain: answer !== null, pauses, raises };
    known.set(tenantId, createActiveBudgets(found.flatMap(toActiveBudget), at, complete));
  }

  async function refresh(tenantId: TenantId): Promise<ActiveBudgets> {
    const last = known.get(tenantId);
    const { answered, hasFailed } = questions.ask(tenantId, []);
    if (last !== undefined && hasFailed) return last;
    const failure = await answered.then(
      () => unavailable(),
      (error: unknown) => error,
    );
    const found = known.get(tenantId);
    if (found === undefined) throw failure;
    return found;
  }

  return {
    of(tenantId) {
      const found = known.get(tenantId);
      return found !== undefined && found.askedAt >= now() - FRESH_MS ? found : refresh(tenantId);
    },
    async since(tenantId, at) {
      const known = await this.of(tenantId);
      if (known.askedAt >= at) return known;
      // A question in progress may be older.
      for (let asked = 0; asked < 2; asked += 1) {
        const found = await refresh(tenantId);
        if (found.askedAt >= at) return found;
      }
      throw unavailable();
    },
  };
}

type Answer = Awaited<ReturnType<BudgetSourceDeps['budgets']['listActiveBudgets']>>;

/** A budget with a period of a newer version of budgets is left out: this version cannot apply it. */
function toActiveBudget(message: Answer['budgets'][number]): ActiveBudget[] {
  const { id, name, selector, each, limitMicros, gracePercent, denies, tellAt, overrides } = message;
  const period = message.period && fromWirePeriod(message.period);
  if (period === undefined || period === null) return [];
  const { labels, ...others } = selector ?? { labels: {} };
  return [
    {
      ...{ id, name, period, denies, tellAt },
      meter: meterOf(message),
      selector: { ...others, labels },
      each: (each as BudgetEach | undefined) ?? null,
      limitMicros,
      grantableMicros: grantableMicros(limitMicros, gracePercent),
      overrides: overrides ?? null,
    },
  ];
}

/** A pause of a newer version of budgets is left out: this version cannot apply it. */
function toPause({ scope, ...pause }: Answer['pauses'][number]): Pause[] {
  const known = toPauseScope(scope);
  return known === null ? [] : [{ ...pause, scope: known }];
}

function toRaise({ value = '', ...raise }: Answer['raises'][number]): Raise {
  return { ...raise, value };
}

function meterOf({ id, generation }: Answer['budgets'][number]): string {
  return `${id}.${generation}`;
}
