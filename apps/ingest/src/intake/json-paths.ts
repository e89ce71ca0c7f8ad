import { JsonScanner, LIST, OBJECT, QUOTE } from './json-scanner.ts';
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

/** The values at the paths of JSON, without null and without texts of more than 4 KiB. Throws `MalformedBody`. */
export function readPaths(bytes: Buffer, paths: PathTree): Map<string, AttributeValue> {
  const json = new JsonScanner(bytes, { maxLevels: MAX_VALUE_LEVELS });
  const found = readTree(json, paths);
  json.end();
  return found;
}

/** The values at the paths of the tree in the value that comes next. Of repeated keys, the first counts. */
export function readTree(json: JsonScanner, tree: PathTree): Map<string, AttributeValue> {
  const found = new Map<string, AttributeValue>();
  const read = (node: PathNode, note: (path: string, value: AttributeValue) => void): void => {
    const byte = json.peek();
    const each = node.below.get(EACH);
    if (byte === OBJECT && node.below.size > 0) {
      for (let more = json.begin(OBJECT); more; more = json.next(OBJECT)) {
        const child = node.below.get(json.key());
        if (child === undefined) json.skip();
        else read(child, note);
      }
    } else if (byte === LIST && each !== undefined) {
      const lists = new Map<string, string[]>();
      const collect = (path: string, value: AttributeValue): void => {
        const list = lists.get(path) ?? [];
        if (list.length < MAX_TEXTS) lists.set(path, [...list, String(value)]);
      };
      for (let more = json.begin(LIST); more; more = json.next(LIST)) read(each, collect);
      for (const [path, list] of lists) note(path, list);
    } else if (node.path !== undefined) {
      const value = readPlain(json);
      if (value !== undefined) note(node.path, value);
    } else {
      json.skip();
    }
  };
  read(tree, (path, value) => {
    if (!found.has(path)) found.set(path, value);
  });
  return found;
}

/** A text, number, boolean or list of texts; undefined for anything else, which is skipped. */
export function readPlain(json: JsonScanner, maxBytes = MAX_TEXT_BYTES): AttributeValue | undefined {
  const byte = json.peek();
  if (byte === QUOTE) return json.text(maxBytes);
  if (byte === LIST || byte === OBJECT) {
    json.skip();
    return undefined;
  }
  const word = json.word();
  if (word === 'null') return undefined;
  if (word === 'true' || word === 'false') return word === 'true';
  return Number(word);
}
