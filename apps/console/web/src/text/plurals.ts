import { count } from '../format/numbers.ts';
import { formats } from './formats.ts';

/** A noun after a number, by the categories of `Intl.PluralRules`. */
export type Noun = Readonly<{ one: string; other: string }>;

const rules = new Intl.PluralRules(formats.numbers);

/** "call" for 1, "calls" for any other number. */
export function noun(value: number, { one, other }: Noun): string {
  return rules.select(value) === 'one' ? one : other;
}

/** "0 calls", "1 call", "1,906 calls". */
export function counted(value: number, of: Noun): string {
  return `${count(value)} ${noun(value, of)}`;
}
