import { createHash } from 'node:crypto';
import { PRICE_ID } from '@tollkeeper/kernel';
import { z } from 'zod';

const NAME = z.string().min(1).max(128);
/** 10,000 USD. With it, a table in another unit is refused. */
const MAX_MICROS_PER_MTOK = 10_000_000_000;

const rowSchema = z.strictObject({
  /** Names the prices of one model: rows of a model share it. */
  id: z.string().regex(PRICE_ID, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / -'),
  provider: NAME,
  /** The names by which gateways report the model, in any case. */
  match: z.array(NAME).min(1).max(100),
  kind: z.enum([
    'input',
    'cache_read',
    'cache_write',
    'cache_write_1h',
    'output',
    'reasoning',
    'audio_in',
    'audio_out',
  ]),
  tier: z.enum(['default', 'batch', 'priority', 'flex']),
  /** The price of calls whose whole input has more tokens than this. */
  above_tokens: z.int().positive().optional(),
  /** USD micros for a million tokens. */
  micros_per_mtok: z.int().min(0).max(MAX_MICROS_PER_MTOK),
  /** From the beginning of this day, UTC. Absent: as long as the model exists. */
  valid_from: z.iso.date().optional(),
  /** Until the beginning of this day, UTC. Absent: still valid. */
  valid_to: z.iso.date().optional(),
  source: NAME,
});
const tableSchema = z.strictObject({ rows: z.array(rowSchema) });

/** One price: of one kind of tokens of one model, at one tier, for a time. */
export type PriceRow = Readonly<z.infer<typeof rowSchema>>;
export type PriceKind = PriceRow['kind'];
export type PriceTier = PriceRow['tier'];

export interface PriceTable {
  rows: readonly PriceRow[];
  /** A hash of the text of the table. */
  version: string;
}

/** A text is no table of prices. The message names the row and the field, and says what is wrong with it. */
export class PriceTableError extends Error {}

/** Throws `PriceTableError`, also if two rows have a price for the same tokens at the same time. */
export function parsePriceTable(text: string): PriceTable {
  const { data, error } = tableSchema.safeParse(parseJson(text));
  if (error) {
    const { path, message } = error.issues[0]!;
    throw new PriceTableError(`${placeOf(path, text)}: ${message}`);
  }
  data.rows.forEach((row, index) => {
    if (row.valid_from !== undefined && row.valid_to !== undefined && row.valid_from >= row.valid_to) {
      throw new PriceTableError(`${nameOf(row, index)}: valid_to: must be after valid_from, ${row.valid_from}`);
    }
  });
  refuseTwoPrices(data.rows);
  return { rows: data.rows, version: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}

/** The text of a table, with a row a line. */
export function formatPriceTable(rows: readonly PriceRow[]): string {
  return `{"rows":[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]}\n`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new PriceTableError(`The table is not JSON: ${(error as Error).message}`);
  }
}

function placeOf([rows, index, ...field]: readonly PropertyKey[], text: string): string {
  if (rows !== 'rows' || typeof index !== 'number') return 'The table must be an object with a list of rows';
  const row = (JSON.parse(text) as { rows: readonly unknown[] }).rows[index];
  return [nameOf(row, index), ...(field.length > 0 ? [field.join('.')] : [])].join(': ');
}

function nameOf(row: unknown, index: number): string {
  const id = typeof row === 'object' && row !== null && 'id' in row ? ` (${String(row.id)})` : '';
  return `Row ${index + 1}${id}`;
}

function refuseTwoPrices(rows: readonly PriceRow[]): void {
  const byPrice = new Map<string, { row: PriceRow; index: number }[]>();
  rows.forEach((row, index) => {
    for (const name of row.match) {
      const price = JSON.stringify([name.toLowerCase(), row.kind, row.tier, row.above_tokens]);
      const others = byPrice.get(price);
      if (others === undefined) byPrice.set(price, [{ row, index }]);
      else others.push({ row, index });
    }
  });
  for (const rivals of byPrice.values()) {
    const inOrder = rivals.toSorted((a, b) => compareDates(a.row.valid_from, b.row.valid_from));
    for (const [position, { row, index }] of inOrder.entries()) {
      const before = inOrder[position - 1];
      if (before === undefined || (before.row.valid_to ?? LAST_DAY) <= (row.valid_from ?? '')) continue;
      const other = nameOf(before.row, before.index);
      throw new PriceTableError(`${nameOf(row, index)}: valid_from: ${other} has a price for the same tokens then`);
    }
  }
}

const LAST_DAY = '9999-12-31';

/** Dates sort like their texts; an absent one is before all. */
function compareDates(a = '', b = ''): number {
  return a < b ? -1 : Number(a > b);
}
