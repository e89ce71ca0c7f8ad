import { JsonScanner, LIST, OBJECT } from './json-scanner.ts';
import { type AttributeValue, MAX_TEXT_BYTES, MAX_TEXTS, MAX_VALUE_LEVELS } from './record.ts';

/** Stands in a path for every element of a list; their values become one list. */
const EACH = '*';

/** What is read below one key. */
interface PathNode {
  /** The path that ends here. */
  path?: string;
  below: Map<string, PathNode>;
}

export type PathTree = PathNode;

/** The paths in the form in which a value is searched once for all of them. Keys are joined by dots. */
export function pathTree(paths: Iterable<string>): PathTree {
  const root: PathNode = { below: new Map() };
  for (const path of paths) {
    let node = root;
    for (const key of path === '' ? [] : path.split('.')) {
      let child = node.below.get(key);
      if (child === undefined) node.below.set(key, (child = { below: new Map() }));
      node = child;
    }
    node.path = path;
  }
  return root;
}

/** The values at the paths of short JSON, read without a pause. Throws `MalformedBody`. */
export function readPaths(bytes: Buffer, paths: PathTree): Map<string, AttributeValue> {
  const json = new JsonScanner(bytes, { maxLevels: MAX_VALUE_LEVELS });
  const reading = readTree(json, paths);
  let step = reading.next();
  while (step.done !== true) step = reading.next();
  json.end();
  return step.value;
}

/**
 * The values at the paths of the tree in the value that comes next, without null and without texts of more than 4 KiB.
 * Of repeated keys, the first counts. Pauses at `undefined`.
 */
export function* readTree(json: JsonScanner, tree: PathTree): Generator<undefined, Map<string, AttributeValue>> {
  const found = new Map<string, AttributeValue>();
  json.peek();
  const start = json.at;
  yield* readNode(json, tree, (path, value) => {
    if (!found.has(path)) found.set(path, value);
  });
  if (json.at === start) yield* json.skip();
  return found;
}

/** Leaves what it does not read for skipping. */
function* readNode(
  json: JsonScanner,
  node: PathNode,
  note: (path: string, value: AttributeValue) => void,
): Generator<undefined> {
  const byte = json.peek();
  const each = node.below.get(EACH);
  if (byte === OBJECT && node.below.size > 0) {
    for (const key of json.keys()) {
      const child = key === undefined ? undefined : node.below.get(key);
      if (child !== undefined) yield* readNode(json, child, note);
      else if (key === undefined) yield undefined;
    }
  } else if (byte === LIST && each !== undefined) {
    yield* readElements(json, each, note);
  } else if (node.path !== undefined) {
    const value = json.scalar(MAX_TEXT_BYTES);
    if (value !== undefined) note(node.path, value);
  }
}

/** Notes a list of texts for each path. What an element does not have is empty. */
function* readElements(
  json: JsonScanner,
  node: PathNode,
  note: (path: string, value: AttributeValue) => void,
): Generator<undefined> {
  const lists = new Map<string, string[]>();
  for (const index of json.elements()) {
    if (index === undefined) yield undefined;
    else if (index < MAX_TEXTS) {
      yield* readNode(json, node, (path, value) => {
        const list = lists.get(path) ?? [];
        if (list.length > index) return;
        lists.set(path, [...list, ...Array<string>(index - list.length).fill(''), String(value)]);
      });
    }
  }
  for (const [path, list] of lists) note(path, list);
}
