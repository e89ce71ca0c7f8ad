import type { BudgetsServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import type { TenantId } from '@tollkeeper/kernel';
import type { Override } from '@tollkeeper/prices';

export type PricePeer = Pick<GrpcClient<BudgetsServiceDefinition>, 'listPrices'>;
type Page = Awaited<ReturnType<PricePeer['listPrices']>>;

/**
 * The prices that owners of the workspace have set, in the order in which they were set. They are never changed or
 * removed, so a later answer begins with them. Rejects as the client does, also if all pages take longer than the
 * deadline.
 */
export async function readOverrides(
  budgets: PricePeer,
  tenantId: TenantId,
  { deadlineMs, now = () => performance.now() }: { deadlineMs: number; now?: (() => number) | undefined },
): Promise<Override[]> {
  const until = now() + deadlineMs;
  const overrides: Override[] = [];
  let after: number | undefined = 0;
  while (after !== undefined) {
    const page: Page = await budgets.listPrices({ tenantId, after }, { deadlineMs: Math.max(1, until - now()) });
    overrides.push(...page.prices.map(toOverride));
    after = page.nextAfter;
  }
  return overrides;
}

function toOverride({ id, provider, model, validFrom, ...prices }: Page['prices'][number]): Override {
  const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning } = prices;
  const byKind = {
    ...{ input, output, reasoning },
    ...{ cache_read: cacheRead, cache_write: cacheWrite, cache_write_1h: cacheWriteHour },
  };
  const set = Object.entries(byKind).filter(([, micros]) => micros !== undefined);
  return { id, provider, model, validFromMs: validFrom, microsPerMillion: Object.fromEntries(set) };
}
