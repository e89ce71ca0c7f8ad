import { describe, expect, it } from '@jest/globals';
import {
  createPriceBook,
  formatPriceTable,
  parsePriceTable,
  type PriceRow,
  type SourceModel,
} from '@tollkeeper/prices';
import fc from 'fast-check';
import { UpdateError, updateTable } from './table-update.ts';

const model = (id: string, input: number | undefined, output?: number): SourceModel => ({
  id,
  provider: 'openai',
  prices: [
    ...(input === undefined ? [] : [{ kind: 'input', tier: 'default', micros_per_mtok: input } as const]),
    ...(output === undefined ? [] : [{ kind: 'output', tier: 'default', micros_per_mtok: output } as const]),
  ],
});
const update = (rows: readonly PriceRow[], date: string, ...models: SourceModel[]) =>
  updateTable(rows, { name: 'litellm', models }, date);

/** `kind`, price and days of each row. */
const shown = (rows: readonly PriceRow[]) =>
  rows.map(({ id, kind, micros_per_mtok, valid_from = '', valid_to = '' }) =>
    [id, kind, micros_per_mtok, `${valid_from}..${valid_to}`].join(' '),
  );

describe('the table after an import', () => {
  const { rows } = update([], '2026-01-01', model('gpt-4o', 5, 15), model('o3', 10, 40));

  it('has the prices of new models without a first day, since nobody knows earlier ones', () => {
    expect(shown(rows)).toEqual(['gpt-4o input 5 ..', 'gpt-4o output 15 ..', 'o3 input 10 ..', 'o3 output 40 ..']);
    expect(rows[0]).toEqual({
      id: 'gpt-4o',
      provider: 'openai',
      match: ['gpt-4o'],
      kind: 'input',
      tier: 'default',
      micros_per_mtok: 5,
      source: 'litellm',
    });
  });

  it('has the old price until the day of the import, and the new one from then on', () => {
    const after = update(rows, '2026-02-01', model('gpt-4o', 5, 15), model('o3', 2, 40));
    expect(shown(after.rows)).toEqual([
      'gpt-4o input 5 ..',
      'gpt-4o output 15 ..',
      'o3 input 10 ..2026-02-01',
      'o3 output 40 ..',
      'o3 input 2 2026-02-01..',
    ]);
    expect(after).toMatchObject({ newModels: 0, opened: 1, closed: 1 });
  });

  it('keeps the prices of models that the source no longer has', () => {
    expect(update(rows, '2026-02-01', model('o3', 10, 40))).toEqual({ rows, newModels: 0, opened: 0, closed: 0 });
  });

  it('ends a price that its model no longer has, and begins a further one on the day of the import', () => {
    const after = update(rows, '2026-02-01', model('o3', 10));
    expect(shown(after.rows).at(-1)).toBe('o3 output 40 ..2026-02-01');
    const again = update(after.rows, '2026-03-01', model('o3', 10, 40));
    expect(shown(again.rows).slice(2)).toEqual([
      'o3 input 10 ..',
      'o3 output 40 ..2026-02-01',
      'o3 output 40 2026-03-01..',
    ]);
  });

  it('has one model for names that differ in case', () => {
    expect(update(rows, '2026-02-01', model('GPT-4o', 5, 15)).opened).toBe(0);
  });

  it('is refused if a price would end on the day on which it began, or before', () => {
    const after = update(rows, '2026-02-01', model('o3', 2, 40)).rows;
    for (const date of ['2026-02-01', '2026-01-31']) {
      expect(() => update(after, date, model('o3', 3, 40))).toThrow(UpdateError);
      expect(() => update(after, date, model('o3', 3, 40))).toThrow(
        `o3: input: the table has a price from 2026-02-01, which ${date} is not after.`,
      );
    }
    expect(update(after, '2026-02-01', model('o3', 2, 40)).opened).toBe(0);
  });
});

const PRICE = fc.option(fc.nat({ max: 3 }), { nil: undefined });
const MODELS = fc
  .uniqueArray(fc.record({ id: fc.constantFrom('a', 'b', 'C', 'd'), input: PRICE, output: PRICE }), {
    selector: ({ id }) => id,
  })
  .map((models) => models.map(({ id, input, output }) => model(id, input, output)))
  .map((models) => models.filter(({ prices }) => prices.length > 0));

it('whatever is imported, no row is lost or changed but for its end, the same file changes nothing, and each price counts on its days', () => {
  fc.assert(
    fc.property(fc.array(MODELS, { minLength: 1, maxLength: 8 }), (files) => {
      let rows: readonly PriceRow[] = [];
      files.forEach((models, index) => {
        const date = `2026-01-0${index + 1}`;
        const after = update(rows, date, ...models).rows;
        expect(after.slice(0, rows.length).map((row, at) => ({ ...row, valid_to: rows[at]?.valid_to }))).toEqual(
          rows.map((row) => ({ ...row, valid_to: row.valid_to })),
        );
        expect(rows.filter((row, at) => row.valid_to !== undefined && after[at]?.valid_to !== row.valid_to)).toEqual(
          [],
        );
        expect(update(after, '2026-02-01', ...models).rows).toEqual(after);
        rows = after;
      });
      const book = createPriceBook(parsePriceTable(formatPriceTable(rows)));
      files.forEach((models, index) => {
        for (const { id, prices } of models) {
          for (const kind of ['input', 'output'] as const) {
            const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
            const amount = book.price({
              responseModel: id,
              requestModel: undefined,
              provider: undefined,
              serviceTier: undefined,
              timeMs: Date.parse(`2026-01-0${index + 1}T12:00:00Z`),
              tokens: { ...none, [kind]: 1_000_000 },
            });
            expect(amount?.micros).toBe(prices.find((price) => price.kind === kind)?.micros_per_mtok);
          }
        }
      });
    }),
  );
});
