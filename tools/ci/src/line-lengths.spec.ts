import { describe, expect, it } from '@jest/globals';
import { longLines, MAX_COLUMNS } from './line-lengths.ts';

const LONG = 'word '.repeat(25).trim();
const SHORT = 'word '.repeat(20).trim();
const LINK = `https://example.com/${'x'.repeat(MAX_COLUMNS)}`;

describe('the check of line lengths', () => {
  it('finds prose of a document that is too long, and not its tables and code', () => {
    const text = [SHORT, LONG, `| ${LONG} |`, '```sh', LONG, '```', LONG].join('\n');
    expect(longLines('docs/page.md', text)).toEqual([2, 7]);
  });

  it.each([
    ['a.ts', `// ${LONG}`],
    ['a.ts', `/** ${LONG} */`],
    ['a.ts', ` * ${LONG}`],
    ['a.proto', `// ${LONG}`],
    ['a.yaml', `  # ${LONG}`],
  ])('finds a comment in %s: %s', (path, line) => {
    expect(longLines(path, `\n${line}\n`)).toEqual([2]);
    expect(longLines(path, line.replace(LONG, SHORT))).toEqual([]);
  });

  it('lets code and other files be', () => {
    expect(longLines('a.ts', `const text = '${LONG}';`)).toEqual([]);
    expect(longLines('a.json', LONG)).toEqual([]);
  });

  it('lets a link be that no break makes shorter', () => {
    expect(longLines('a.md', LINK)).toEqual([]);
    expect(longLines('a.ts', `// ${LINK}`)).toEqual([]);
    expect(longLines('a.ts', `// See ${LINK}`)).toEqual([1]);
  });

  it('counts columns and not bytes', () => {
    expect(longLines('a.md', `${'é '.repeat(59)}é`)).toEqual([]);
  });
});
