import { isObject, UNKNOWN } from '../kinds/kind.ts';

export interface FieldChange {
  /** Such as `selector.labels.team`. */
  path: string;
  /** Undefined if it is not set. */
  from: unknown;
  to: unknown;
}

/**
 * The fields in which what is there differs from what is wanted. Fields that are not in `wanted` are not compared.
 * Lists are compared as sets, because their order means nothing in any kind.
 */
export function fieldsThatDiffer(wanted: object, live: object): FieldChange[] {
  return Object.entries(wanted).flatMap(([name, to]) => {
    if (to === undefined) return [];
    return compare(name, (live as Record<string, unknown>)[name], to);
  });
}

function compare(path: string, from: unknown, to: unknown): FieldChange[] {
  if (to === UNKNOWN || isSame(from, to)) return [];
  // Objects that say of which kind they are have other fields for each kind.
  if (!isObject(from) || !isObject(to) || from['kind'] !== to['kind'])
    return [{ path, from: from ?? undefined, to: to ?? undefined }];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) => compare(`${path}.${name}`, from[name], to[name]));
}

function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** Equal for equal values: nothing, null and {} are the same, and neither the order of lists nor of fields counts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).toSorted().join()}]`;
  if (!isObject(value)) return typeof value === 'symbol' ? 'unknown' : JSON.stringify(value ?? null);
  const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null);
  if (fields.length === 0) return 'null';
  return `{${fields
    .map(([name, field]) => `${name}:${canonical(field)}`)
    .toSorted()
    .join()}}`;
}
