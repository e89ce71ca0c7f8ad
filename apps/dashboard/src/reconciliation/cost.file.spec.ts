import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { readCostFile } from './cost.file.ts';
import { compare, daysOf } from './reconciliation.ts';
import { parseUsd, toMicros } from './usd.ts';

const read = (...lines: string[]) => readCostFile(Buffer.from(lines.join('\n')));
const cellsOf = async (...lines: string[]) =>
  (await read(...lines)).rows.map(({ day, model, usd }) => [day, model, toMicros(usd)]);

/** Expects that other work has turns during this one. */
async function interrupted<T>(work: () => Promise<T>): Promise<T> {
  let turns = 0;
  let isOver = false;
  const result = work().finally(() => (isOver = true));
  while (!isOver) {
    await setImmediate();
    turns += 1;
  }
  expect(turns).toBeGreaterThan(3);
  return result;
}

const OPENAI_HEAD =
  'start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,quantity_unit,line_item,project_id';

describe('a cost file', () => {
  it('of the generic format has a sum for each day and model, exact to the micro', async () => {
    expect(
      await cellsOf(
        'day,model,amount_usd',
        '2026-10-01,gpt-4o,0.1',
        '2026-10-01,GPT-4o,0.2000004',
        '2026-10-02,gpt-4o,-1',
      ),
    ).toEqual([
      ['2026-10-01', 'gpt-4o', 300_000],
      ['2026-10-02', 'gpt-4o', -1_000_000],
    ]);
  });

  it('is read with a byte order mark, CRLF, quotes and spaces', async () => {
    expect(
      await cellsOf('\ufeff"day", model,amount_usd\r', '\r', '2026-10-01,"a, ""b""",1.5\r', '2026-10-02 , c , -0.5 \r'),
    ).toEqual([
      ['2026-10-01', 'a, "b"', 1_500_000],
      ['2026-10-02', 'c', -500_000],
    ]);
  });

  it('of more rows than are read is refused, not cut', async () => {
    const lines = Array.from({ length: 100_001 }, () => ',,');
    await expect(read('day,model,amount_usd', ...lines)).rejects.toThrow('at most 100000 rows');
  });

  it('of the greatest size and its comparison leave time for others', async () => {
    const lines = Array.from({ length: 20_000 }, (_, nth) => `2026-10-${nth % 2 === 0 ? '01' : '31'},m${nth},1.25`);
    const file = await interrupted(() => read('day,model,amount_usd', ...lines));
    const days = daysOf(file);
    const counted = Array.from({ length: 10_000 }, (_, nth) => ({ model: `m${nth}`, micros: days.map(() => 1) }));
    await interrupted(() => expect(compare(file, days, counted)).rejects.toThrow('at most 40000 days of models'));
  });

  it("of OpenAI's dashboard has the models of its line items, and leaves out days without an amount", async () => {
    expect(
      await cellsOf(
        `\ufeff${OPENAI_HEAD}`,
        '1,2,2026-10-01T00:00:00+00:00,2026-10-02T00:00:00+00:00,,,,,,',
        '1,2,2026-10-02T00:00:00,2026-10-03T00:00:00,0.003835980000000000000000000000,usd,9,tokens,"gpt-5-nano, input",p',
        '1,2,2026-10-02T00:00:00,2026-10-03T00:00:00,0.5,usd,9,tokens,"gpt-5-nano, output",p',
        '1,2,2026-10-02T00:00:00,2026-10-03T00:00:00,2,usd,9,tokens,web search,p',
      ),
    ).toEqual([
      ['2026-10-02', 'gpt-5-nano', 503_836],
      ['2026-10-02', 'web search', 2_000_000],
    ]);
  });

  it("of Anthropic's console has the names that models have elsewhere", async () => {
    expect(
      await cellsOf(
        'usage_date_utc,model,workspace,token_type,cost_usd,list_price_usd',
        '2026-10-04,Claude Haiku 4.5,Default,output,0.02,0.03',
        '2026-10-04,,Default,,0.01,0.01',
      ),
    ).toEqual([
      ['2026-10-04', 'claude-haiku-4-5', 20_000],
      ['2026-10-04', '', 10_000],
    ]);
  });

  it.each([
    [['foo,bar', '1,2'], 'It has foo, bar'],
    [[''], 'It has none'],
    [['day,model,amount_usd', 'October,gpt-4o,1'], 'line 2: day must be a day'],
    [['day,model,amount_usd', '2026-02-30,gpt-4o,1'], 'line 2: day must be a day'],
    [['day,model,amount_usd', '2026-10-01,gpt-4o,1', '2026-10-01,gpt-4o,1e3'], 'line 3: amount_usd must be a number'],
    [[OPENAI_HEAD, '1,2,2026-10-02T00:00:00,x,1,eur,,,gpt-4o,p'], 'line 2: amount_currency must be usd'],
    [['day,model,amount_usd', '2026-10-01,"gpt-4o,1'], 'is no CSV'],
    [['day,model,amount_usd', '2026-10-01,gpt-4o,'], 'at least one row'],
    [['day,model,amount_usd', '', '2026-10-01,"gpt', '4o",1', '2026-10-01,a,x'], 'line 5: amount_usd must be a number'],
    [['day,model,amount_usd\r', '2026-10-01,a,1\r', '2026-10-01,a,x\r'], 'line 3: amount_usd must be a number'],
    [
      ['day,model,amount_usd', '2026-10-01,a,9007199254', '2026-10-02,b,-1'],
      'line 3: amount_usd makes the total too large',
    ],
    [['day,model,amount_usd', '0001-01-01,a,1', '2026-10-01,a,1'], 'at most 400 days'],
  ])('that cannot be read is refused with the line and the reason: %j', async (lines, reason) => {
    const refused = read(...lines);
    await expect(refused).rejects.toThrow(AppError);
    await expect(refused).rejects.toThrow(reason);
  });

  it('matches models without dates, providers and regions, and lists what only Tollkeeper counted apart', async () => {
    const file = await read('day,model,amount_usd', '2026-10-01,gpt-4o-2024-08-06,3', '2026-10-03,claude-haiku-4-5,1');
    const days = daysOf(file);
    expect(days).toEqual(['2026-10-01', '2026-10-02', '2026-10-03']);
    const comparison = await compare(file, days, [
      { model: 'openai/GPT-4o', micros: [1_000_000, 500_000, 0] },
      { model: 'gpt-4o-2024-11-20', micros: [1_500_000, 0, 0] },
      { model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0', micros: [0, 0, 7] },
      { model: null, micros: [0, 0, 0] },
    ]);
    expect(comparison).toEqual({
      ...{ from: '2026-10-01', to: '2026-10-03', chargedMicros: 4_000_000, countedMicros: 3_000_000 },
      cells: [
        { day: '2026-10-01', model: 'gpt-4o', chargedMicros: 3_000_000, countedMicros: 2_500_000 },
        { day: '2026-10-02', model: 'gpt-4o', chargedMicros: 0, countedMicros: 500_000 },
        { day: '2026-10-03', model: 'claude-haiku-4-5', chargedMicros: 1_000_000, countedMicros: 0 },
      ],
      onlyCounted: [{ model: 'anthropic.claude-haiku-4-5', micros: 7 }],
    });
  });
});

it.each([
  ['0.0000005', 1],
  ['0.00000049999', 0],
  ['-0.0000005', -1],
  ['12', 12_000_000],
  ['1.', 1_000_000],
])('%s US dollars are %d micros', (text, micros) => {
  expect(toMicros(parseUsd(text)!)).toBe(micros);
});
