import { isDeepStrictEqual } from 'node:util';
import type { AuditTrail } from '@tollkeeper/audit-trail';
import { AppError, type Clock, newId, type TenantId } from '@tollkeeper/kernel';
import { changeInTurn } from '@tollkeeper/mongo';
import { overrideName } from '@tollkeeper/prices';
import { type Connection, Schema, trusted } from 'mongoose';
import { AUDITED_PRICE, MAX_PRICES, type OwnPrice, type PriceDraft, type PriceStore } from './price.ts';

/** `key`: what prices must share so that a later one ends an earlier one. */
type StoredPrice = Omit<OwnPrice, 'id'> & { _id: string; tenantId: string; key: string };

const text = { type: String, required: true } as const;
const date = { type: Date, required: true } as const;

const priceSchema = new Schema<StoredPrice>(
  {
    _id: text,
    tenantId: text,
    number: { type: Number, required: true },
    key: text,
    provider: { type: String, default: null },
    model: text,
    validFrom: date,
    microsPerMillion: { type: Schema.Types.Mixed, required: true },
    createdAt: date,
    createdBy: text,
  },
  // A price that ends others has no kinds, and must stay as it is.
  { collection: 'prices', versionKey: false, minimize: false },
);
priceSchema.index({ tenantId: 1, number: 1 }, { unique: true });

interface StoredCount {
  /** The tenant. */
  _id: string;
  /** Number of its prices. */
  count: number;
}

const countSchema = new Schema<StoredCount>(
  { _id: text, count: { type: Number, required: true } },
  { collection: 'price_counts', versionKey: false },
);

/** Prices in the database of `connection`. Make it before the connection starts. */
export function createPriceStore(connection: Connection, trail: AuditTrail, clock: Clock): PriceStore {
  const prices = connection.model<StoredPrice>('Price', priceSchema);
  const counts = connection.model<StoredCount>('PriceCount', countSchema);

  return {
    async list(tenantId, { after, limit }) {
      const found = await prices
        .find({ tenantId, number: trusted({ $gt: after }) })
        .sort({ number: 1 })
        .limit(limit)
        .lean();
      return found.map(toPrice);
    },

    add: (tenantId, draft, cause) =>
      changeInTurn(connection, tenantId, async (session) => {
        const key = keyOf(draft);
        const ofModel = (await prices.find({ tenantId, key }, null, { session }).sort({ number: 1 }).lean()).map(
          toPrice,
        );
        const before = inForce(ofModel, draft.validFrom);
        if (before !== undefined && isSame(before, draft)) return before;
        if (isEnd(draft) && (before === undefined || isEnd(before))) throw endsNothing(draft);
        const { count = 0 } = (await counts.findOne({ _id: tenantId }, null, { session }).lean()) ?? {};
        if (count >= MAX_PRICES) throw tooMany();
        // Makes concurrent changes conflict in all replicas, so that each decides on the result of the one before.
        await counts.updateOne({ _id: tenantId }, { $inc: { count: 1 } }, { session, upsert: true });
        const price: OwnPrice = {
          id: newId('price'),
          number: count + 1,
          ...draft,
          createdAt: new Date(clock()),
          createdBy: cause.actor.id,
        };
        await prices.create([toStored(tenantId, key, price)], { session });
        const target = { type: 'price', id: price.id, name: key };
        await trail.recordChange(session, tenantId, cause, {
          ...{ target, fields: AUDITED_PRICE, after: price },
          before: before ?? null,
        });
        return price;
      }),
  };
}

/** The one that counts at the time, of prices of one model in the order in which they were set. */
function inForce(prices: readonly OwnPrice[], at: Date): OwnPrice | undefined {
  let last: OwnPrice | undefined;
  for (const price of prices) {
    if (price.validFrom <= at && (last === undefined || price.validFrom >= last.validFrom)) last = price;
  }
  return last;
}

function isSame(price: OwnPrice, { validFrom, microsPerMillion }: PriceDraft): boolean {
  return (
    price.validFrom.getTime() === validFrom.getTime() && isDeepStrictEqual(price.microsPerMillion, microsPerMillion)
  );
}

function isEnd({ microsPerMillion }: PriceDraft): boolean {
  return Object.keys(microsPerMillion).length === 0;
}

function endsNothing({ validFrom }: PriceDraft): AppError {
  const message =
    `ends no price: at ${validFrom.toISOString()}, the workspace has none of this provider and model. ` +
    'Take provider, model and a time from the list of prices';
  return new AppError('invalid_request', `${message}.`, { details: [{ path: 'ends', message }] });
}

function keyOf({ provider, model }: PriceDraft): string {
  return overrideName({ provider: provider ?? undefined, model });
}

function tooMany(): AppError {
  const message =
    `The workspace has set ${MAX_PRICES} prices, the maximum. They are never deleted, because calls were priced by ` +
    'them. Let the gateway report the cost of calls of this model, for example as gen_ai.usage.cost.';
  return new AppError('conflict', message);
}

function toPrice({ _id, tenantId: _tenantId, key: _key, ...fields }: StoredPrice): OwnPrice {
  return { id: _id, ...fields };
}

function toStored(tenantId: TenantId, key: string, { id, ...fields }: OwnPrice): StoredPrice {
  return { _id: id, tenantId, key, ...fields };
}
