import { expect, it } from '@jest/globals';
import { AppError, provenTenantId } from '@tollkeeper/kernel';
import type { OverrideBook } from '@tollkeeper/prices';
import { testLogger } from '@tollkeeper/testing';
import { createWorkspacePrices, type WorkspacePricesDeps } from './workspace.prices.ts';

type Answer = Awaited<ReturnType<WorkspacePricesDeps['budgets']['listPrices']>>;

const TENANT = provenTenantId('ws_1');
const PRICED: Answer = { prices: [{ id: 'price_1', model: 'house-1', validFrom: 0, input: 7 }] };

/** The price of a million tokens. */
const microsIn = (book: OverrideBook) =>
  book.price({
    ...{ responseModel: 'house-1', requestModel: undefined, provider: undefined, serviceTier: undefined, timeMs: 0 },
    tokens: { input: 1_000_000, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 },
  })?.micros;

it('calls with known prices do not wait while budgets has just failed, and have new ones once it answers', async () => {
  let now = 0;
  const asked: PromiseWithResolvers<Answer>[] = [];
  const listPrices = (): Promise<Answer> => {
    const answer = Promise.withResolvers<Answer>();
    asked.push(answer);
    return answer.promise;
  };
  const { logger } = testLogger();
  const prices = createWorkspacePrices({ budgets: { listPrices }, deadlineMs: 1_000, logger, now: () => now });
  /** What a call gets before budgets answers. */
  const atOnce = async () => {
    const waits = new Promise<'waits'>((resolve) => void setImmediate(() => resolve('waits')));
    const book = await Promise.race([prices.overridesOf(TENANT), waits]);
    return book === 'waits' ? book : microsIn(book);
  };
  const first = prices.overridesOf(TENANT);
  expect(await atOnce()).toBe('waits');
  asked[0]!.resolve(PRICED);
  expect(microsIn(await first)).toBe(7);

  now = 3_000;
  expect(await atOnce()).toBe('waits');
  asked[1]!.reject(new AppError('service_unavailable', 'down'));
  expect(await prices.overridesOf(TENANT)).toBe(await first);
  expect([await atOnce(), asked.length]).toEqual([7, 2]);
  // A second later budgets is asked again, and hangs.
  now = 4_000;
  expect([await atOnce(), await atOnce(), asked.length]).toEqual([7, 7, 3]);
  asked[2]!.resolve({ prices: [{ ...PRICED.prices[0]!, input: 8 }] });
  await new Promise((resolve) => void setImmediate(resolve));
  expect(await atOnce()).toBe(8);
});
