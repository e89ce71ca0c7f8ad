import type { Fact, Source } from './fact-sources.ts';
import { FACT_TABLE, type FactTable } from './fact-table.ts';
import { CALL_RULES, EVENT_NAME } from './facts.ts';
import type { Attributes, AttributeValue, IntakeRecord } from './record.ts';
import type { SpanTree } from './span-tree.ts';

type Facts = FactTable['facts'];
type FactName = keyof Facts;
type ValueOf<F> = F extends Fact<infer T> ? T : never;

/** The facts of a record by the table. */
export interface FoundFacts {
  value<N extends FactName>(name: N): ValueOf<Facts[N]> | undefined;
  /** The labels that the key maps, by their names. */
  labels(): Iterable<readonly [name: string, value: string]>;
}

/** Reads facts by the table, when they are asked for. */
export function factsOf(record: IntakeRecord, tree: SpanTree, table: FactTable = FACT_TABLE): FoundFacts {
  return {
    value: (name) => {
      // The table gives each name its own type, which a lookup by a variable loses.
      const { sources } = table.facts[name] as Fact<ValueOf<Facts[typeof name]>>;
      return firstValue(sources, record, tree);
    },
    *labels() {
      for (const [label, { sources }] of table.labels) {
        const value = firstValue(sources, record, tree);
        if (value !== undefined) yield [label, value];
      }
    },
  };
}

function firstValue<T>(sources: readonly Source<T>[], record: IntakeRecord, tree: SpanTree): T | undefined {
  for (let index = 0; index < sources.length; index += 1) {
    const found = valueAt(index, sources, record, tree);
    if (found !== undefined) return found;
  }
  return undefined;
}

function valueAt<T>(index: number, sources: readonly Source<T>[], record: IntakeRecord, tree: SpanTree): T | undefined {
  const source = sources[index]!;
  switch (source.place) {
    case 'record':
      return readFrom(source, record.attributes);
    case 'resource':
      return readFrom(source, record.resource);
    case 'inherited':
      return inheritedValue(sources.slice(0, index), record, tree);
  }
}

function inheritedValue<T>(sources: readonly Source<T>[], record: IntakeRecord, tree: SpanTree): T | undefined {
  for (const ancestor of tree.ancestors(record)) {
    for (const source of sources) {
      const found = readFrom(source, ancestor.attributes);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** A fact as it was read. */
export interface NamedFact {
  /** In snake_case, as in the API. */
  fact: string;
  /** The name that its value came from. */
  name: string;
  value: unknown;
}

/** All facts of a record by the table, with the names that they came from. */
export function* namedFactsOf(record: IntakeRecord, tree: SpanTree, table: FactTable): Generator<NamedFact> {
  const facts = Object.entries<Fact<unknown>>(table.facts).map(([fact, of]) => [toSnakeCase(fact), of] as const);
  const labels = [...table.labels].map(([label, of]) => [labelFact(label), of] as const);
  for (const [fact, { sources }] of [...facts, ...labels]) {
    for (let index = 0; index < sources.length; index += 1) {
      const value = valueAt(index, sources, record, tree);
      if (value === undefined) continue;
      yield { fact, name: nameOf(index, sources, record, tree), value };
      break;
    }
  }
}

/** The name of the source that has a value. */
function nameOf(index: number, sources: readonly Source<unknown>[], record: IntakeRecord, tree: SpanTree): string {
  const { place, name = '' } = sources[index]!;
  switch (place) {
    case 'record':
      return name;
    case 'resource':
      return `resource ${name}`;
    case 'inherited': {
      const isAround = ({ attributes }: IntakeRecord) =>
        sources.slice(0, index).find((source) => readFrom(source, attributes) !== undefined)?.name;
      return `${tree
        .ancestors(record)
        .map(isAround)
        .find((found) => found !== undefined)} of a span around it`;
    }
  }
}

const MAX_FACT_NAME = 32;

/** A label as the name of a fact: `label_cost_center` of `cost.center`. */
function labelFact(label: string): string {
  return `label_${label.replace(/[.-]/g, '_')}`.slice(0, MAX_FACT_NAME);
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function readFrom<T>({ name, read }: Source<T>, attributes: Attributes): T | undefined {
  const value = name === undefined ? undefined : attributes.get(name);
  return value === undefined ? undefined : read(value, attributes);
}

const rulesOf = (kind: 'span' | 'log') =>
  CALL_RULES.filter(({ of }) => of.includes(kind)).map((rule) => ({ ...rule, conditions: Object.entries(rule.when) }));
const RULES = { span: rulesOf('span'), log: rulesOf('log') };

/** Why a record is no call; undefined if it is one. */
export function notACallBecause(record: IntakeRecord): string | undefined {
  const { kind } = record;
  switch (kind) {
    case 'callback':
      return undefined;
    case 'span':
    case 'log': {
      const rule = RULES[kind].find(({ conditions }) =>
        conditions.every(([name, applies]) => appliesTo(record, name, applies)),
      );
      return rule === undefined ? 'no attribute says that it is a call' : rule.notBecause;
    }
  }
}

function appliesTo(record: IntakeRecord, name: string, applies: (value: string) => boolean): boolean {
  const value = named(record, name);
  return value !== undefined && value !== '' && applies(String(value));
}

function named(record: IntakeRecord, name: string): AttributeValue | undefined {
  if (name === 'scope') return record.scope.name;
  return name === 'eventName' ? eventNameOf(record) : record.attributes.get(name);
}

/** The name of the event that a log entry is; empty for other records. */
export function eventNameOf({ attributes, eventName }: IntakeRecord): AttributeValue {
  return attributes.get(EVENT_NAME) ?? eventName;
}
