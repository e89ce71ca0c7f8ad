import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import { createQuestions, type GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';

/** Knows the plans that workspaces have. */
export interface WorkspacePlans {
  /**
   * The keys among these that no plan of the workspace has; not a promise if all are in the cache. An answer is used
   * for 3 s, and then waited for up to the deadline. While budgets is down, the last known ones: a key that is not
   * known counts as that of a plan. Never rejects.
   */
  unknownPlansOf(tenantId: TenantId, planKeys: readonly string[]): PlanKeys | Promise<PlanKeys>;
}

type PlanKeys = ReadonlySet<string>;

export interface WorkspacePlansDeps {
  budgets: Pick<GrpcClient<BudgetsServiceDefinition>, 'getBudgets'>;
  /** How long to wait for all answers. */
  deadlineMs: number;
  logger: Logger;
  /** Monotonic milliseconds. */
  now: () => number;
}

const FRESH_MS = 3_000;
const MAX_KNOWN = 20_000;
/** Most keys in a question (budgets.proto). */
const MAX_ASKED = 1_000;

interface Known {
  /** When budgets was asked. */
  at: number;
  exists: boolean;
}

/** Asks budgets, and keeps the answers in a bounded cache. */
export function createWorkspacePlans({ budgets, deadlineMs, logger, now }: WorkspacePlansDeps): WorkspacePlans {
  const known = new LRUCache<string, Known>(roomFor(MAX_KNOWN));
  const questions = createQuestions(send, now);
  const warn = createSparingWarner(logger, now, 'budgets does not answer; plans that are not known stay as reported');
  const keyOf = (tenantId: TenantId, planKey: string) => `${tenantId}/${planKey}`;

  async function send(tenantId: TenantId, all: readonly string[]): Promise<void> {
    const at = now();
    for (let start = 0; start < all.length; start += MAX_ASKED) {
      const planKeys = all.slice(start, start + MAX_ASKED);
      const leftMs = Math.max(1, deadlineMs - (now() - at));
      const { plans } = await budgets.getBudgets({ tenantId, agentIds: [], planKeys }, { deadlineMs: leftMs });
      const existing = new Set(plans.map(({ planKey }) => planKey));
      for (const planKey of planKeys) known.set(keyOf(tenantId, planKey), { at, exists: existing.has(planKey) });
    }
  }

  function unknownAmong(tenantId: TenantId, planKeys: readonly string[]): PlanKeys {
    return new Set(planKeys.filter((planKey) => known.get(keyOf(tenantId, planKey))?.exists === false));
  }

  return {
    unknownPlansOf(tenantId, planKeys) {
      const isFresh = (planKey: string) => {
        const { at = -Infinity } = known.get(keyOf(tenantId, planKey)) ?? {};
        return now() - at < FRESH_MS;
      };
      const old = planKeys.filter((planKey) => !isFresh(planKey));
      if (old.length === 0) return unknownAmong(tenantId, planKeys);
      const { answered } = questions.ask(tenantId, old);
      return answered.catch((error: unknown) => warn({ err: error })).then(() => unknownAmong(tenantId, planKeys));
    },
  };
}
