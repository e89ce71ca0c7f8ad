import { labels as words } from '../text/labels.ts';

export type Labels = Readonly<Record<string, string>>;

const MAX_LABELS = 10;
const NAME = /^[a-z][a-z0-9_.-]{0,31}$/;
const VALUE = /^[^\p{C}\p{Zl}\p{Zp}]*$/u;
const MAX_VALUE_LENGTH = 128;

/** "env=prod", "team=growth": in order of their names. Services of the previous release answer without labels. */
export function labelList(labels: Labels = {}): string[] {
  return Object.entries(labels)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
}

/** The end of a sentence about calls: ", with env=prod, team=growth"; empty without labels. */
export function withLabels(labels?: Labels): string {
  const list = labelList(labels);
  return list.length === 0 ? '' : `, with ${list.join(', ')}`;
}

/** The labels of a typed text with one per line, or what is wrong with it. */
export function readLabels(
  text: string,
): { labels: Labels; problem?: undefined } | { labels?: undefined; problem: string } {
  const read = new Map<string, { value: string; line: number }>();
  for (const [index, typed] of text.split('\n').entries()) {
    if (typed.trim() === '') continue;
    const line = index + 1;
    const split = typed.indexOf('=');
    if (split < 0) return { problem: words.problems.form(line) };
    const name = typed.slice(0, split).trim();
    const value = typed.slice(split + 1).trim();
    if (!NAME.test(name)) return { problem: words.problems.name(line) };
    if (!VALUE.test(value) || value === '' || value.length > MAX_VALUE_LENGTH)
      return { problem: words.problems.value(line) };
    const taken = read.get(name);
    if (taken !== undefined) return { problem: words.problems.taken(line, name, taken.line) };
    if (read.size === MAX_LABELS) return { problem: words.problems.many(line, MAX_LABELS) };
    read.set(name, { value, line });
  }
  return { labels: Object.fromEntries([...read].map(([name, { value }]) => [name, value])) };
}
