import { type PriceRow, type PriceTable, REPORTED_KINDS, type ReportedKind } from '@tollkeeper/prices';
import type { ListPart } from './price.list.ts';
import type { MicrosPerMillion } from './price.ts';

/** The prices of a model in the table of the release: at one tier, above one number of tokens, for one time. */
export interface TablePrice {
  id: string;
  provider: string;
  /** The names by which calls are found to be of the model. */
  names: readonly string[];
  tier: PriceRow['tier'];
  aboveTokens: number | null;
  /** Beginnings of UTC days; null for as long as the model exists, and while they still count. */
  validFrom: Date | null;
  validTo: Date | null;
  microsPerMillion: MicrosPerMillion;
}

export interface TableList {
  /** In the order of the table, and the place of the last one if more follow. */
  list(part: ListPart): { prices: TablePrice[]; next: number | null };
}

export function createTableList({ rows }: PriceTable): TableList {
  const entries = pricesIn(rows).map((price) => ({ price, text: textOf(price) }));
  return {
    list({ search, after = -1, limit }) {
      const prices: TablePrice[] = [];
      let last = after;
      // A cursor that somebody made up may be before the first place.
      for (let place = Math.max(after, -1) + 1; place < entries.length; place += 1) {
        const { price, text } = entries[place]!;
        if (!text.includes(search)) continue;
        if (prices.length === limit) return { prices, next: last };
        prices.push(price);
        last = place;
      }
      return { prices, next: null };
    },
  };
}

function pricesIn(rows: readonly PriceRow[]): TablePrice[] {
  const ofReported = rows.filter(({ kind }) => isReported(kind));
  const keyOf = ({ id, tier, above_tokens, valid_from, valid_to }: PriceRow) =>
    JSON.stringify([id, tier, above_tokens, valid_from, valid_to]);
  return [...Map.groupBy(ofReported, keyOf).values()].map((ofPrice) => {
    const { id, provider, match, tier, above_tokens: aboveTokens = null, valid_from, valid_to } = ofPrice[0]!;
    const dateOf = (day: string | undefined) => (day === undefined ? null : new Date(day));
    return {
      ...{ id, provider, names: match, tier, aboveTokens },
      validFrom: dateOf(valid_from),
      validTo: dateOf(valid_to),
      microsPerMillion: Object.fromEntries(ofPrice.map(({ kind, micros_per_mtok }) => [kind, micros_per_mtok])),
    };
  });
}

function isReported(kind: PriceRow['kind']): kind is ReportedKind {
  return (REPORTED_KINDS as readonly string[]).includes(kind);
}

function textOf({ provider, names }: TablePrice): string {
  return [provider, ...names].join(' ').toLowerCase();
}
