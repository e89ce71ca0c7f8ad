import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toCsvLine, toUsd } from './csv.ts';

/** What a reader of RFC 4180 finds in a line. */
function parse(line: string): string[] {
  const cells: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(line); match !== null; match = cell.exec(line)) {
    cells.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] === '\r\n' && cell.lastIndex === line.length) return cells;
  }
  throw new Error(`no line of RFC 4180: ${JSON.stringify(line)}`);
}

describe('toCsvLine', () => {
  it('is read back as it was written, except for the apostrophe before formulas', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r', '\n', '=', '-', '語', ' ', "'", '1') });
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 5 }), (cells) => {
        expect(parse(toCsvLine(cells)).map((cell, at) => (cell === cells[at] ? cell : cell.slice(1)))).toEqual(cells);
      }),
      { seed: 20261130 },
    );
  });

  it.each(['=1+1', '+1-2', '-2+3', '@SUM(A1)', '\t=1', '\r=1', ' =1', '＝1', '－1', '=HYPERLINK("http://x","y")', '-'])(
    'lets no spreadsheet calculate %j',
    (text) => {
      const [cell = ''] = parse(toCsvLine([text]));
      expect(cell).toBe(`'${text}`);
    },
  );

  it.each(['-12', '-0.500000', '12', 'gpt-4o', 'a=b', "'quoted"])('leaves %j as it is', (text) => {
    expect(toCsvLine([text])).toBe(`${text}\r\n`);
  });

  it('has nothing in the cells of what is absent', () => {
    expect(toCsvLine(['a', null, undefined, 0, true, ''])).toBe('a,,,0,true,\r\n');
  });
});

describe('toUsd', () => {
  it.each([
    [0, '0.000000'],
    [1, '0.000001'],
    [1_234_567, '1.234567'],
    [-50, '-0.000050'],
    [Number.MAX_SAFE_INTEGER, '9007199254.740991'],
  ])('of %d micros is exact', (micros, usd) => {
    expect(toUsd(micros)).toBe(usd);
  });
});
