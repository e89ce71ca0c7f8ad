import { basename, extname } from 'node:path';

/** Most columns of a line of a document or of a comment. Prettier wraps code. */
export const MAX_COLUMNS = 120;

const CODE = new Set(['.ts', '.tsx', '.css', '.js', '.mjs', '.proto']);
const SCRIPTS = new Set(['.yaml', '.yml', '.sh', '.properties']);
const COMMENT_OF_CODE = /^\s*(\/\/|\/?\*)/;
const COMMENT_OF_SCRIPT = /^\s*#/;
/** The start or the end of a block of code in Markdown. */
const FENCE = /^\s*(```|~~~)/;
const TABLE_ROW = /^\s*\|/;

/**
 * Numbers, from 1, of the lines of a file that are longer than {@link MAX_COLUMNS}: prose of Markdown, and whole lines
 * of comment in code and scripts. Tables, blocks of code, and lines that end with something without a space, such as a
 * link, may be longer. Other kinds of files have none.
 */
export function longLines(path: string, text: string): number[] {
  const isProse = proseOf(path);
  return text
    .split('\n')
    .flatMap((line, index) => (isProse(line) && line.length > MAX_COLUMNS && canBeWrapped(line) ? [index + 1] : []));
}

/** Whether lines are prose. The function must be called in the order of the file. */
function proseOf(path: string): (line: string) => boolean {
  const kind = extname(path);
  if (SCRIPTS.has(kind) || basename(path) === 'Dockerfile') return (line) => COMMENT_OF_SCRIPT.test(line);
  if (CODE.has(kind)) return (line) => COMMENT_OF_CODE.test(line);
  if (kind !== '.md') return () => false;
  let inCode = false;
  return (line) => {
    if (FENCE.test(line)) inCode = !inCode;
    return !inCode && !TABLE_ROW.test(line);
  };
}

/** Whether the text beyond the last column could be wrapped. */
function canBeWrapped(line: string): boolean {
  const start = line.search(/[^\s/*#>-]/);
  return line.lastIndexOf(' ', MAX_COLUMNS) > start;
}
