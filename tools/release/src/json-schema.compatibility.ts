/** JSON Schema 2020-12 as written by zod. An unknown keyword is compared as text. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  default?: unknown;
  [keyword: string]: unknown;
}

/** The writer or the reader of the values, for messages and for the `$ref`s of their schemas. */
interface Party {
  /** For use in a sentence, such as `alerts 0.1.0`. */
  name: string;
  /** The document that `#/…` refers to. */
  document: unknown;
}

interface Parties {
  writer: Party;
  reader: Party;
}

/** Something that the writer may write and the reader does not accept. */
export interface Mismatch {
  /** A field that may be missing, an unknown field, another type, or a value that is not accepted. */
  kind: 'missing' | 'unknown' | 'type' | 'value';
  /** Such as `event.data.run_id` or `items[].name`; empty for the whole value. */
  path: string;
  message: string;
}

export interface Strictness {
  /** Whether the reader refuses unknown fields where its schema says so. */
  unknownFields: boolean;
  /** Whether the reader refuses a value without the fields that it requires. */
  requiredFields: boolean;
  /** Whether the reader enforces its enumerations, limits, patterns and formats. */
  values: boolean;
}

/** A service that checks all that it reads. */
export const STRICT: Strictness = { unknownFields: true, requiredFields: true, values: true };
/** A client that ignores new fields and values, as the API requires of clients. */
export const TOLERANT: Strictness = { unknownFields: false, requiredFields: true, values: false };

const UPPER_LIMITS = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
const LOWER_LIMITS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
/** Keywords that are compatible only if they are equal. */
const EQUAL_OR_NOT = ['pattern', 'format', 'multipleOf', 'propertyNames', 'prefixItems', 'allOf', 'not', 'uniqueItems'];

/**
 * Every way in which the reader's schema may refuse a value of the writer's. Empty if the reader accepts all that the
 * writer may write. Errs on the safe side: what cannot be proven compatible, such as another pattern, is a mismatch.
 */
export function findMismatches(
  written: JsonSchema,
  read: JsonSchema,
  parties: Parties,
  strictness: Strictness = STRICT,
): Mismatch[] {
  const { writer, reader } = parties;
  const inFlight = new Set<string>();

  function compare(from: JsonSchema, to: JsonSchema, path: string): Mismatch[] {
    const refs = `${from.$ref} ${to.$ref}`;
    const recursive = from.$ref !== undefined && to.$ref !== undefined;
    // This pair is already being compared further up, which finds its mismatches.
    if (recursive && inFlight.has(refs)) return [];
    if (recursive) inFlight.add(refs);
    const variants = variantsOf(resolve(from, writer.document), writer.document).flatMap(oneValueEach);
    const taken = variantsOf(resolve(to, reader.document), reader.document);
    const found = variants.flatMap((variant) => compareWithAny(variant, taken, path));
    if (recursive) inFlight.delete(refs);
    return found;
  }

  /** No mismatch if one of `taken` accepts all of the variant, else those of the closest one. */
  function compareWithAny(variant: JsonSchema, taken: JsonSchema[], path: string): Mismatch[] {
    let closest: Mismatch[] | undefined;
    if (!strictness.values && hasNewName(variant, taken)) return [];
    const sameKind = taken.filter((candidate) => kindOf(candidate) === undefined || fits(variant, candidate));
    for (const candidate of sameKind) {
      const found = compareOne(variant, candidate, path);
      if (found.length === 0) return [];
      if (closest === undefined || found.length < closest.length) closest = found;
    }
    if (closest !== undefined) return closest;
    const message = `${writer.name} may write ${wordsOf(variant)}, ${reader.name} takes ${taken.map(wordsOf).join(' or ')}`;
    return [{ kind: 'type', path, message }];
  }

  function compareOne(from: JsonSchema, to: JsonSchema, path: string): Mismatch[] {
    const found: Mismatch[] = [];
    if (strictness.values) found.push(...compareValues(from, to, path, parties));
    if (to.properties !== undefined || to.additionalProperties !== undefined || to.required !== undefined) {
      found.push(...compareFields(from, to, path));
    }
    if (to.items !== undefined) found.push(...compare(from.items ?? {}, to.items, `${path}[]`));
    return found;
  }

  function compareFields(from: JsonSchema, to: JsonSchema, path: string): Mismatch[] {
    const found: Mismatch[] = [];
    const fields = from.properties ?? {};
    const known = to.properties ?? {};
    const always = from.required ?? [];
    for (const name of to.required ?? []) {
      if (always.includes(name) || !strictness.requiredFields) continue;
      const message = `${writer.name} may leave it out, ${reader.name} requires it`;
      found.push({ kind: 'missing', path: join(path, name), message });
    }
    for (const [name, field] of Object.entries(fields)) {
      const target = known[name] ?? to.additionalProperties ?? true;
      if (target === true || (target === false && !strictness.unknownFields)) continue;
      if (target === false) {
        const message = `${writer.name} may write it, ${reader.name} does not know it`;
        found.push({ kind: 'unknown', path: join(path, name), message });
      } else found.push(...compare(field, target, join(path, name)));
    }
    if (from.additionalProperties !== false && strictness.unknownFields) found.push(...compareFree(from, to, path));
    return found;
  }

  /** The fields that the writer's schema leaves free. */
  function compareFree(from: JsonSchema, to: JsonSchema, path: string): Mismatch[] {
    const free = typeof from.additionalProperties === 'object' ? from.additionalProperties : {};
    const known = Object.entries(to.properties ?? {}).filter(([name]) => !Object.hasOwn(from.properties ?? {}, name));
    const found = known.flatMap(([name, target]) => compare(free, target, join(path, name)));
    if (to.additionalProperties === false) {
      const message = `${writer.name} may write fields of any name, ${reader.name} takes only those it knows`;
      found.push({ kind: 'unknown', path: join(path, '*'), message });
    } else if (typeof to.additionalProperties === 'object') {
      found.push(...compare(free, to.additionalProperties, join(path, '*')));
    }
    return found;
  }

  return compare(written, read, '');
}

/** The schema itself, or the one that it refers to. */
export function resolve(schema: JsonSchema, document: unknown): JsonSchema {
  if (schema.$ref === undefined) return schema;
  if (!schema.$ref.startsWith('#')) throw new Error(`${schema.$ref} does not refer to its own document`);
  let target = document;
  for (const part of schema.$ref.split('/').slice(1)) {
    target = (target as Record<string, unknown> | undefined)?.[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (target === undefined) throw new Error(`${schema.$ref} refers to nothing`);
  return resolve(target as JsonSchema, document);
}

/** The alternatives of a schema, each with one type. */
function variantsOf(schema: JsonSchema, document: unknown): JsonSchema[] {
  const { anyOf, oneOf, ...rest } = schema;
  const alternatives = anyOf ?? oneOf;
  if (alternatives !== undefined) {
    return alternatives.flatMap((variant) => variantsOf({ ...rest, ...resolve(variant, document) }, document));
  }
  return Array.isArray(schema.type) ? schema.type.map((type) => ({ ...schema, type })) : [schema];
}

/**
 * Whether a field that names each alternative has a name in `variant` that none of `taken` has. Readers that ignore new
 * values ignore the whole of it.
 */
function hasNewName(variant: JsonSchema, taken: JsonSchema[]): boolean {
  if (taken.length < 2) return false;
  return Object.entries(variant.properties ?? {}).some(([field, { const: name }]) => {
    const names = taken.map(({ properties = {} }) => properties[field]?.const);
    return name !== undefined && !names.includes(undefined) && !names.includes(name);
  });
}

/** Splits an enumeration into its values, because each may match another alternative of the reader. */
function oneValueEach(schema: JsonSchema): JsonSchema[] {
  const { enum: values, ...rest } = schema;
  return values === undefined ? [schema] : values.map((value) => ({ ...rest, const: value }));
}

function kindOf({ type }: JsonSchema): string | undefined {
  return type as string | undefined;
}

function fits(from: JsonSchema, to: JsonSchema): boolean {
  if (kindOf(from) === kindOf(to)) return true;
  if (kindOf(from) === 'integer' && kindOf(to) === 'number') return true;
  const values = kindOf(from) === undefined ? valuesOf(from) : undefined;
  return values !== undefined && values.every((value) => typeof value === kindOf(to));
}

function valuesOf(schema: JsonSchema): unknown[] | undefined {
  return Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum;
}

function wordsOf(schema: JsonSchema): string {
  const values = valuesOf(schema);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(', ');
  return kindOf(schema) ?? 'any value';
}

function compareValues(from: JsonSchema, to: JsonSchema, path: string, { writer, reader }: Parties): Mismatch[] {
  const [value] = valuesOf(from) ?? [];
  const only = valuesOf(to);
  if (only !== undefined && only.includes(value)) return [];
  if (only !== undefined || (value !== undefined && !withinLimits(value, to))) {
    const written = value === undefined ? 'any other value' : JSON.stringify(value);
    const takes = only === undefined ? 'does not take' : `takes only ${wordsOf(to)}`;
    return [{ kind: 'value', path, message: `${writer.name} may write ${written}, ${reader.name} ${takes}` }];
  }
  if (value !== undefined) return [];
  return compareLimits(from, to).map((keyword) => {
    const [limit, was] = [to[keyword], from[keyword] ?? 'none'].map((text) => JSON.stringify(text));
    return { kind: 'value', path, message: `${reader.name} has ${keyword} ${limit}, ${writer.name} has ${was}` };
  });
}

/** The keywords with which the reader's schema accepts less than the writer's. */
function compareLimits(from: JsonSchema, to: JsonSchema): string[] {
  const narrower = (keyword: string, sign: 1 | -1) => {
    const limit = to[keyword] as number | undefined;
    const written = from[keyword] as number | undefined;
    return limit !== undefined && (written === undefined || sign * written > sign * limit);
  };
  return [
    ...UPPER_LIMITS.filter((keyword) => narrower(keyword, 1)),
    ...LOWER_LIMITS.filter((keyword) => narrower(keyword, -1) && !(to[keyword] === 0 && keyword !== 'minimum')),
    ...EQUAL_OR_NOT.filter((word) => to[word] !== undefined && JSON.stringify(from[word]) !== JSON.stringify(to[word])),
  ];
}

function withinLimits(value: unknown, schema: JsonSchema): boolean {
  if (typeof value === 'number') {
    return value <= Number(schema['maximum'] ?? Infinity) && value >= Number(schema['minimum'] ?? -Infinity);
  }
  if (typeof value !== 'string') return true;
  const { minLength = 0, maxLength = Infinity, pattern = '' } = schema as { [limit: string]: unknown };
  return (
    value.length >= Number(minLength) && value.length <= Number(maxLength) && new RegExp(String(pattern)).test(value)
  );
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
