import type { PriceRow, SourceModel, SourcePrice } from '@tollkeeper/prices';

export interface Source {
  name: string;
  models: readonly SourceModel[];
}

export interface TableUpdate {
  rows: readonly PriceRow[];
  /** What differs from the table before. */
  newModels: number;
  opened: number;
  closed: number;
}

/** The prices of the source are not those of a day after the last change of a row. */
export class UpdateError extends Error {}

/**
 * The table with the prices of `date` (UTC). No row is removed or changed, except that a price which is no longer that
 * of its model gets `valid_to`. Rows of models that the source does not have stay as they are. The first prices of a
 * model have no `valid_from`: nobody knows an earlier one. Throws `UpdateError` if a row of that day or a later one
 * would have to be closed.
 */
export function updateTable(rows: readonly PriceRow[], source: Source, date: string): TableUpdate {
  const open = new Map<string, Map<string, PriceRow>>();
  for (const row of rows.filter((each) => each.valid_to === undefined)) {
    for (const name of row.match) open.set(name, (open.get(name) ?? new Map()).set(priceKey(row), row));
  }
  const known = new Set(rows.flatMap(({ match }) => match));
  const closed = new Set<PriceRow>();
  const opened: PriceRow[] = [];
  for (const model of source.models) {
    const name = model.id.toLowerCase();
    const before = open.get(name) ?? new Map<string, PriceRow>();
    const prices = new Map(model.prices.map((price) => [priceKey(price), price]));
    for (const [key, row] of before) {
      if (prices.get(key)?.micros_per_mtok !== row.micros_per_mtok) closed.add(row);
    }
    for (const [key, price] of prices) {
      if (before.get(key)?.micros_per_mtok === price.micros_per_mtok) continue;
      opened.push(rowOf(model, price, { name, source: source.name, validFrom: known.has(name) ? date : undefined }));
    }
  }
  for (const row of closed) {
    if ((row.valid_from ?? '') < date) continue;
    throw new UpdateError(
      `${row.id}: ${row.kind}: the table has a price from ${row.valid_from}, which ${date} is not after. ` +
        'Import the file on a later day, or into the earlier table.',
    );
  }
  return {
    rows: [...rows.map((row) => (closed.has(row) ? { ...row, valid_to: date } : row)), ...opened],
    newModels: source.models.filter(({ id }) => !known.has(id.toLowerCase())).length,
    opened: opened.length,
    closed: closed.size,
  };
}

function priceKey({ kind, tier, above_tokens: above = 0 }: SourcePrice): string {
  return `${kind} ${tier} ${above}`;
}

interface RowOptions {
  name: string;
  source: string;
  validFrom: string | undefined;
}

function rowOf({ id, provider }: SourceModel, price: SourcePrice, { name, source, validFrom }: RowOptions): PriceRow {
  const { micros_per_mtok, kind, tier, above_tokens } = price;
  return {
    id,
    provider,
    match: [name],
    kind,
    tier,
    ...(above_tokens !== undefined && { above_tokens }),
    micros_per_mtok,
    ...(validFrom !== undefined && { valid_from: validFrom }),
    source,
  };
}
