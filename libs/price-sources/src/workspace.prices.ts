import { createQuestions } from '@tollkeeper/grpc';
import { AppError, type TenantId } from '@tollkeeper/kernel';
import { createOverrideBook, type OverrideBook } from '@tollkeeper/prices';
import { createSparingWarner, type Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import { type PricePeer, readOverrides } from './overrides.ts';

/** Knows the prices that owners of workspaces set. */
export interface WorkspacePrices {
  /**
   * The prices of the workspace, not a promise if they are in the cache. An answer is used for 3 s, and then waited for
   * up to the deadline. While budgets is down, the last known ones; rejects with `service_unavailable` if none are
   * known, because the table could have another price.
   */
  overridesOf(tenantId: TenantId): OverrideBook | Promise<OverrideBook>;
}

export interface WorkspacePricesDeps {
  budgets: PricePeer;
  /** How long to wait for all pages of an answer. */
  deadlineMs: number;
  logger: Logger;
  /** Monotonic milliseconds. */
  now: () => number;
}

const FRESH_MS = 3_000;
/** For the cache; enough for 80,000 workspaces without prices, or 50 with as many as there can be. */
const MAX_CACHE_BYTES = 32 * 1024 * 1024;
const BYTES_OF_WORKSPACE = 400;
const BYTES_OF_PRICE = 640;
/** A question is about all prices of a workspace. */
const ALL = ['prices'];

interface Known {
  /** When budgets was asked. */
  at: number;
  book: OverrideBook;
  prices: number;
}

/** Asks budgets, and keeps the answers in a bounded cache. */
export function createWorkspacePrices({ budgets, deadlineMs, logger, now }: WorkspacePricesDeps): WorkspacePrices {
  const known = new LRUCache<TenantId, Known>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: ({ prices }) => BYTES_OF_WORKSPACE + prices * BYTES_OF_PRICE,
  });
  const questions = createQuestions(ask, now);
  const warn = createSparingWarner(logger, now, 'budgets does not answer; the last known prices stay in force');

  async function ask(tenantId: TenantId): Promise<void> {
    const at = now();
    try {
      const overrides = await readOverrides(budgets, tenantId, { deadlineMs, now });
      known.set(tenantId, { at, book: createOverrideBook(overrides), prices: overrides.length });
    } catch (error) {
      warn({ err: error });
      throw unavailable(error);
    }
  }

  async function refresh(tenantId: TenantId): Promise<OverrideBook> {
    const last = known.get(tenantId);
    const { answered, hasFailed } = questions.ask(tenantId, ALL);
    // While budgets fails, calls of workspaces whose prices are known do not wait for it.
    if (last !== undefined && hasFailed) return last.book;
    const failure = await answered.then(
      () => unavailable(),
      (error: unknown) => error,
    );
    const { book } = known.get(tenantId) ?? {};
    if (book === undefined) throw failure;
    return book;
  }

  return {
    overridesOf(tenantId) {
      const last = known.get(tenantId);
      return last !== undefined && now() - last.at < FRESH_MS ? last.book : refresh(tenantId);
    },
  };
}

function unavailable(cause?: unknown): AppError {
  const message = 'The prices of the workspace cannot be read right now. Send the same body again.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
