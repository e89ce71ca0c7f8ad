import { toUtcTimestamp } from '@tollkeeper/contracts';
import type { Attributes, AttributeValue } from './record.ts';
import { microsCost, type SenderCost, usdCost } from './usd.ts';

/** One name by which senders report a fact, and how its value is read there. */
export interface Source<T> {
  /** Of an attribute; undefined for what is found elsewhere. */
  name?: string;
  /** Where the attribute is. Inherited are all sources before this one, of the nearest span around. */
  place: 'record' | 'resource' | 'inherited';
  /** Undefined if the value says nothing, so that the next source counts. */
  read: (value: AttributeValue, attributes: Attributes) => T | undefined;
}

/** A fact of a call: the first source with a value has it. */
export interface Fact<T> {
  sources: readonly Source<T>[];
}

type Reader<T> = Source<T>['read'];
type Named<T> = string | Source<T>;

/** All sources before it, of the nearest span around the call in the same body that has one of them. */
export const INHERITED: Source<never> = { place: 'inherited', read: () => undefined };

function factOf<T>(read: Reader<T>, sources: readonly Named<T>[]): Fact<T> {
  return {
    sources: sources.map((source) => (typeof source === 'string' ? { name: source, place: 'record', read } : source)),
  };
}

export const text = (...sources: readonly Named<string>[]) => factOf(readText, sources);
/** A text, or a list of texts. */
export const texts = (...sources: readonly Named<readonly string[]>[]) => factOf(readTexts, sources);
/** A number of tokens, or another whole number from 0. */
export const count = (...sources: readonly Named<Count>[]) => factOf(readCount({ excludes: false }), sources);
/** An amount in USD. */
export const usd = (...sources: readonly Named<SenderCost>[]) => factOf(readCost(usdCost), sources);
/** A time in epoch milliseconds: RFC 3339, or a number of seconds. */
export const instant = (...sources: readonly Named<number>[]) => factOf(readInstant, sources);
/** Whether a record stands for others as well. */
export const moreThanOnce = (...sources: readonly Named<true>[]) => factOf(readSampling, sources);

/** An attribute of the resource. */
export const resource = (name: string): Source<string> => ({ name, place: 'resource', read: readText });
/** An amount in USD micros. */
export const micros = (name: string): Source<SenderCost> => ({ name, place: 'record', read: readCost(microsCost) });
/** A number that does not contain what others contain. */
export const excluding = (_part: 'cached tokens', name: string): Source<Count> => ({
  name,
  place: 'record',
  read: readCount({ excludes: true }),
});
/** `openai/gpt-4o` is the model `gpt-4o`. */
export const afterPrefix = (name: string) => converted(name, (value) => value.slice(value.indexOf('/') + 1));
/** `openai/gpt-4o` is of the provider `openai`. */
export const beforeSlash = (name: string) =>
  converted(name, (value) => value.slice(0, Math.max(0, value.indexOf('/'))));
/** Vercel's SDK adds the part of an API, as in `openai.responses`. */
export const providerOf = (name: string) =>
  converted(name, (value) => value.replace(/^(openai|anthropic|google|mistral)\..*$/s, '$1'));
/** The value says nothing if `isOther`. */
export const unless = (isOther: (value: string, attributes: Attributes) => boolean, name: string): Source<string> => ({
  name,
  place: 'record',
  read(value, attributes) {
    const read = readText(value);
    return read === undefined || isOther(read, attributes) ? undefined : read;
  },
});

function converted(name: string, convert: (value: string) => string): Source<string> {
  return {
    name,
    place: 'record',
    read(value) {
      const read = readText(value);
      return read === undefined ? undefined : convert(read) || undefined;
    },
  };
}

/** Envoy writes `-` for nothing, and LiteLLM an empty text. */
function readText(value: AttributeValue): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const read = String(value).trim();
  return read === '' || read === '-' ? undefined : read;
}

function readTexts(value: AttributeValue): readonly string[] | undefined {
  if (Array.isArray(value)) return value as readonly string[];
  // LiteLLM writes the list as JSON.
  return readText(value)?.match(/[\w.-]+/g) ?? undefined;
}

/** A number that senders count, and whether it excludes what others include. */
export interface Count {
  value: number;
  excludes: boolean;
}

/** More tokens than any call has. Sums of smaller numbers are exact. */
const MAX_COUNT = 1e12;

/** Negative numbers, fractions and NaN say nothing. */
function readCount({ excludes }: { excludes: boolean }): Reader<Count> {
  return (value) => {
    const number = numberOf(value);
    return Number.isInteger(number) && number >= 0 && number <= MAX_COUNT ? { value: number, excludes } : undefined;
  };
}

function numberOf(value: AttributeValue): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,16}(\.0*)?$/.test(value.trim()) ? Number(value) : NaN;
}

function readCost(parse: (value: number | string) => SenderCost | undefined): Reader<SenderCost> {
  return (value) => (typeof value === 'number' || typeof value === 'string' ? parse(value) : undefined);
}

function readInstant(value: AttributeValue): number | undefined {
  if (typeof value === 'number') return value > 0 && value < 1e11 ? Math.floor(value * 1000) : undefined;
  const utc = typeof value === 'string' ? toUtcTimestamp(value) : null;
  return utc === null ? undefined : Date.parse(utc);
}

function readSampling(value: AttributeValue): true | undefined {
  const read = readText(value);
  return read === undefined || Number(read) === 1 ? undefined : true;
}
