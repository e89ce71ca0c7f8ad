import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Globals } from '../connection.ts';
import { type Column, print, printJson, table } from '../output.ts';

/** The options of every command, from wherever they stand on the line. */
function globalsOf(command: Command): Globals {
  const { workspace, output, zone } = command.optsWithGlobals<{
    workspace?: string;
    output: Globals['output'];
    zone?: string;
  }>();
  return {
    ...(workspace !== undefined && { workspace }),
    output,
    zone: zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    zoneGiven: zone !== undefined,
  };
}

/** An action that gets the options of every command first, then its own options, then its arguments. */
export function action<Options, Arguments extends unknown[]>(
  run: (globals: Globals, options: Options, ...args: Arguments) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return (...given) => {
    const command = given.at(-1) as Command;
    const options = given.at(-2) as Options;
    return run(globalsOf(command), options, ...(given.slice(0, -2) as Arguments));
  };
}

export function timeZone(text: string): string {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError('It must be an IANA time zone, such as Europe/Berlin or UTC.');
  }
}

/** For options with a whole number. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

/** US dollars as micros. */
export function amount(text: string): number {
  const value = Number(text);
  if (/^\d{1,10}(\.\d{1,6})?$/.test(text) && value <= 9_007_199_254) return Math.round(value * 1e6);
  throw new InvalidArgumentError('It must be US dollars, such as 2000 or 0.25.');
}

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as 30m, 8h or 7d. */
export function milliseconds(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return Number(count) * UNITS[unit]!;
  throw new InvalidArgumentError('It must be minutes, hours or days, such as 30m, 8h or 7d.');
}

/** An option with one of these values, which completion offers. */
export function choice(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values);
}

/** The answer of the API for programs, and its rows as a table for people. */
export function listed<Row>(
  { output }: Globals,
  answer: unknown,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  none: string,
): void {
  if (output === 'json') printJson(answer);
  else print(table(rows, columns, none));
}

/** The answer of the API for programs, and a sentence for people. */
export function done({ output }: Globals, answer: unknown, sentence: string): void {
  if (output === 'json') printJson(answer);
  else print(sentence);
}
