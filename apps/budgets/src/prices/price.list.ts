import type { TenantId } from '@tollkeeper/kernel';
import { overrideName } from '@tollkeeper/prices';
import { type ListedPrice, MAX_PRICES, type OwnPrice, type PriceStore } from './price.ts';

/** A part of a list: what has the text in the name of its model or provider, after a place in the list. */
export interface ListPart {
  /** In lower case. Empty for all. */
  search: string;
  after: number | undefined;
  limit: number;
}

export interface PriceList {
  /** The prices of the workspace, the one set last first, and the number of the last one if more follow. */
  list(tenantId: TenantId, part: ListPart): Promise<{ prices: ListedPrice[]; next: number | null }>;
  /** One of them, as it is in the list. */
  listed(tenantId: TenantId, price: OwnPrice): Promise<ListedPrice>;
}

/** When a price ends depends on the others, so all of a workspace are read. */
export function createPriceList(store: PriceStore): PriceList {
  const all = async (tenantId: TenantId) => withEnds(await store.list(tenantId, { after: 0, limit: MAX_PRICES }));
  return {
    async list(tenantId, { search, after = Infinity, limit }) {
      const found = (await all(tenantId)).filter(
        ({ number, provider, model }) =>
          number < after && [provider ?? '', model].some((name) => name.toLowerCase().includes(search)),
      );
      const prices = found.toReversed().slice(0, limit);
      return { prices, next: found.length > limit ? (prices.at(-1)?.number ?? null) : null };
    },
    async listed(tenantId, price) {
      return (await all(tenantId)).find(({ id }) => id === price.id) ?? { ...price, validTo: null };
    },
  };
}

/** In the order in which they were set, as they are given. */
function withEnds(prices: readonly OwnPrice[]): ListedPrice[] {
  const byName = Map.groupBy(prices, ({ provider, model }) => overrideName({ provider: provider ?? undefined, model }));
  const ends = new Map<OwnPrice, Date>();
  for (const ofModel of byName.values()) {
    // Sorting keeps the order of those from the same time: the last one of them counts.
    const inOrder = ofModel.toSorted((a, b) => a.validFrom.getTime() - b.validFrom.getTime());
    inOrder.slice(1).forEach((next, index) => ends.set(inOrder[index]!, next.validFrom));
  }
  return prices.map((price) => ({ ...price, validTo: ends.get(price) ?? null }));
}
