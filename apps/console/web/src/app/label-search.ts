/** A label that spend or blocked calls are filtered by. */
export interface LabelFilter {
  name: string;
  value: string;
}

/** The filter in the URL, as the API has it: `label.team=growth`. */
export type LabelSearch = { [Part in `label.${string}`]: string };

const PART = /^label\.([a-z][a-z0-9_.-]{0,31})$/;
const MAX_VALUE_LENGTH = 128;

/** The first label in the URL: the API filters by one. */
export function parseLabel(search: Record<string, unknown>): LabelSearch {
  for (const [part, value] of Object.entries(search)) {
    const name = PART.exec(part)?.[1];
    if (name === undefined || typeof value !== 'string' || value === '' || value.length > MAX_VALUE_LENGTH) continue;
    return { [`label.${name}` as const]: value };
  }
  return {};
}

export function labelIn(search: LabelSearch): LabelFilter | undefined {
  const [found] = Object.entries(parseLabel(search));
  return found && { name: found[0].replace(/^label\./, ''), value: found[1] };
}

/** The part of a URL, or of a query of the API, that filters by the label. */
export function withLabel(label: LabelFilter | undefined): LabelSearch {
  return label === undefined ? {} : { [`label.${label.name}` as const]: label.value };
}

/** The search without labels. */
export function withoutLabels<Search extends object>(search: Search): Omit<Search, keyof LabelSearch> {
  return Object.fromEntries(Object.entries(search).filter(([part]) => !part.startsWith('label.'))) as Omit<
    Search,
    keyof LabelSearch
  >;
}
