import { pathTree, type PathTree, readPaths } from './json-paths.ts';
import { isPython, pythonToJson } from './python-literal.ts';
import { type AttributeValue, MalformedBody, MAX_STRUCTURED_BYTES, MAX_TEXT_BYTES } from './record.ts';

/** Begins the names of what only LiteLLM's callback has: `$.response.id` is a path from the root of its object. */
export const CALLBACK_PREFIX = '$.';

/**
 * The names that mapping reads. A name is that of an attribute, such as `gen_ai.usage.input_tokens`, or has a path into
 * JSON (or Python) that is the text of an attribute: `langfuse.observation.usage_details#prompt_tokens`. A path of `*`
 * stands for each element of a list; nothing after `#` for the value as a whole.
 */
export interface AskedAttributes {
  /** How an attribute is asked for; undefined for all that nobody reads. */
  of(attribute: string): AskedAttribute | undefined;
  /** All names. */
  readonly names: readonly string[];
}

export interface AskedAttribute {
  /** Longest text that is of use, in bytes. */
  readonly maxBytes: number;
  /** Notes its value. The first value of a name stays. */
  keep(attributes: Map<string, AttributeValue>, value: AttributeValue): void;
}

export function askFor(names: Iterable<string>): AskedAttributes {
  return askAlso({ of: () => undefined, names: [] }, [...names]);
}

/** Asks for further names as well. */
export function askAlso(base: AskedAttributes, names: readonly string[]): AskedAttributes {
  if (names.length === 0) return base;
  const all = [...new Set([...base.names, ...names])];
  const asked = new Map<string, AskedAttribute>();
  const attributes = new Set(names.map((name) => name.split('#', 1)[0]!));
  for (const attribute of attributes) {
    const paths = all.filter((name) => name.startsWith(`${attribute}#`));
    const isWhole = all.includes(attribute);
    asked.set(attribute, paths.length > 0 ? structured(attribute, paths, isWhole) : plain(attribute));
  }
  return { of: (attribute) => asked.get(attribute) ?? base.of(attribute), names: all };
}

function plain(name: string): AskedAttribute {
  return {
    maxBytes: MAX_TEXT_BYTES,
    keep(attributes, value) {
      if (!attributes.has(name)) attributes.set(name, value);
    },
  };
}

function structured(attribute: string, names: readonly string[], isWhole: boolean): AskedAttribute {
  const paths = new Map(names.map((name) => [name.slice(attribute.length + 1), name]));
  const tree = pathTree(paths.keys());
  return {
    maxBytes: MAX_STRUCTURED_BYTES,
    keep(attributes, value) {
      if (isWhole && !isLong(value) && !attributes.has(attribute)) attributes.set(attribute, value);
      if (typeof value !== 'string') return;
      for (const [path, each] of readText(value, tree)) {
        const name = paths.get(path)!;
        if (!attributes.has(name)) attributes.set(name, each);
      }
    },
  };
}

function isLong(value: AttributeValue): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) > MAX_TEXT_BYTES;
}

/** Text that is neither JSON nor Python has no values. */
function readText(text: string, tree: PathTree): ReadonlyMap<string, AttributeValue> {
  try {
    return readPaths(Buffer.from(isPython(text) ? pythonToJson(text) : text), tree);
  } catch (error) {
    if (error instanceof MalformedBody) return new Map();
    throw error;
  }
}
