import { fromCursor, toCursor } from '@tollkeeper/contracts';
import { defineRoute, integerQuery, type Route } from '@tollkeeper/http';
import type { TenantId } from '@tollkeeper/kernel';
import { z } from 'zod';
import { MAX_PRICES, type PriceStore } from './price.ts';
import type { ListPart, PriceList } from './price.list.ts';
import { PRICE_SOURCES, priceBody, priceRecord, toDraft, toOverrideRecord, toTableRecord } from './price.schemas.ts';
import type { TableList } from './table.list.ts';

const PATH = '/api/v1/prices';
const TAG = 'Prices';

type Source = (typeof PRICE_SOURCES)[number];

const listQuery = z.object({
  source: z.enum(PRICE_SOURCES).default('override').meta({ description: 'Which prices to list' }),
  search: z
    .string()
    .max(128)
    .default('')
    .meta({ description: 'Only prices with this text in the name of the model or provider, in any case' }),
  limit: integerQuery({ min: 1, max: 100, default: 50, description: 'Maximum number of items on a page' }),
  cursor: z.string().max(1024).optional().meta({ description: 'The `next_cursor` of the previous page' }),
});
const pricePage = z.object({
  items: z.array(priceRecord),
  next_cursor: z.string().nullable().meta({ description: 'The `cursor` of the next page; null on the last page' }),
});

const LIST_DESCRIPTION = `Those of \`override\` are the prices that owners of the workspace have set, the one set last first. Those of \`table\`
are in the release, by model.

The tokens of a call that is reported without a cost are priced by the overrides, and if none has a price for all of
them, by the table. Prices of the operator's list come between the two, and are not listed.`;

const SET_DESCRIPTION = `The price counts for calls of the model from \`valid_from\` on, until the \`valid_from\` of another price of the same
\`provider\` and \`model\`. It applies to calls that are reported from a few seconds later on; no stored amount changes.
A kind of tokens that is not set costs what its field says. If input or output is not set, the table prices calls that
have such tokens, as a whole.

A price is never changed or deleted. To correct one, set another with the same \`valid_from\`. Setting the same price
again adds nothing. An end needs a price that counts at its \`valid_from\`. A workspace can set at most
${MAX_PRICES} prices: then 409.`;

export interface PriceRoutesDeps {
  store: PriceStore;
  overrides: PriceList;
  table: TableList;
}

/** The prices by which calls without a reported cost are priced: members read them, owners set their own. */
export function createPriceRoutes({ store, overrides, table }: PriceRoutesDeps): Route[] {
  const pageOf: Record<Source, (tenantId: TenantId, part: ListPart) => Promise<z.infer<typeof pricePage>>> = {
    async override(tenantId, part) {
      const { prices, next } = await overrides.list(tenantId, part);
      return { items: prices.map(toOverrideRecord), next_cursor: next === null ? null : toCursor(next, 'override') };
    },
    async table(_tenantId, part) {
      const { prices, next } = table.list(part);
      return { items: prices.map(toTableRecord), next_cursor: next === null ? null : toCursor(next, 'table') };
    },
  };
  return [
    defineRoute({
      method: 'get',
      path: PATH,
      operationId: 'listPrices',
      tag: TAG,
      summary: 'List the prices of models',
      description: LIST_DESCRIPTION,
      access: 'member',
      query: listQuery,
      responses: { 200: { description: 'A page', schema: pricePage } },
      handler: async ({ caller, query: { source, search, limit, cursor } }) => {
        const after = cursor === undefined ? undefined : fromCursor(cursor, new RegExp(`^${source}$`))[0];
        const part = { search: search.trim().toLowerCase(), after, limit };
        return { status: 200, body: await pageOf[source](caller.tenantId, part) };
      },
    }),
    defineRoute({
      method: 'put',
      audit: 'price.set',
      path: PATH,
      operationId: 'setPrice',
      tag: TAG,
      summary: 'Set the price of a model',
      description: SET_DESCRIPTION,
      access: 'owner',
      body: priceBody,
      responses: { 200: { description: 'The price', schema: priceRecord } },
      handler: async ({ caller, body, cause }) => {
        const price = await store.add(caller.tenantId, toDraft(body), cause);
        return { status: 200, body: toOverrideRecord(await overrides.listed(caller.tenantId, price)) };
      },
    }),
  ];
}
