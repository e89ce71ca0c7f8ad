import type { Api } from '@tollkeeper/client';
import { editableMoney, parseMoney } from '../../format/money.ts';

/** The prices that the form has, as the API names them, in its order. */
export const PRICE_FIELDS = [
  'input_micros_per_million',
  'output_micros_per_million',
  'cached_input_micros_per_million',
  'cache_write_micros_per_million',
  'cache_write_1h_micros_per_million',
  'reasoning_micros_per_million',
] as const satisfies readonly (keyof Api.Price)[];
export type PriceField = (typeof PRICE_FIELDS)[number];

/** What people type. */
export interface PriceForm {
  model: string;
  provider: string;
  /** `table`: calls have the prices of the release again. */
  what: 'prices' | 'table';
  amounts: Readonly<Record<PriceField, string>>;
  /** A UTC day, as `2026-11-29`. */
  day: string;
}

const NO_AMOUNTS = Object.fromEntries(PRICE_FIELDS.map((field) => [field, ''])) as Record<PriceField, string>;

/** The form for a new price from `today` on, or for one like `price`: of the workspace, to correct it. */
export function formOf(price: Api.Price | null, today: string): PriceForm {
  if (price === null) return { model: '', provider: '', what: 'prices', amounts: NO_AMOUNTS, day: today };
  const amounts = Object.fromEntries(
    PRICE_FIELDS.map((field) => {
      const micros = price[field];
      return [field, micros === null ? '' : editableMoney(micros)];
    }),
  ) as Record<PriceField, string>;
  const day = { override: price.valid_from?.slice(0, today.length) ?? today, table: today }[price.source];
  // A model of the table is found by its name, whoever reports it.
  const provider = { override: price.provider ?? '', table: '' }[price.source];
  return { model: price.model, provider, what: price.ends ? 'table' : 'prices', amounts, day };
}

/** The fields that have no valid amount. */
export function badFields({ what, amounts }: PriceForm): readonly PriceField[] {
  if (what === 'table') return [];
  return PRICE_FIELDS.filter((field) => amounts[field].trim() !== '' && parseMoney(amounts[field]) === null);
}

/** Null without a price, or while a field is not valid. */
export function bodyOf(form: PriceForm, before: Api.Price | null): Api.SetPriceData['body'] | null {
  const { model, provider, what, amounts, day } = form;
  if (badFields(form).length > 0) return null;
  const set = PRICE_FIELDS.flatMap((field) => {
    const micros = parseMoney(amounts[field]);
    return micros === null || what === 'table' ? [] : [[field, micros] as const];
  });
  if (what === 'prices' && set.length === 0) return null;
  // A price that does not begin at midnight is corrected from the same time on.
  const isSameDay = before?.source === 'override' && before.valid_from?.startsWith(day) === true;
  return {
    model: model.trim(),
    provider: provider.trim() === '' ? null : provider.trim(),
    valid_from: isSameDay ? before.valid_from! : `${day}T00:00:00.000Z`,
    ends: what === 'table',
    ...Object.fromEntries(set),
  };
}
