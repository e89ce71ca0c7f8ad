import {
  type AskedAttributes,
  type AttributeValue,
  CALLBACK_PREFIX,
  emptyRecord,
  type IntakeRecord,
  JsonScanner,
  LIST,
  MalformedBody,
  OBJECT,
  pathTree,
  type PathTree,
  readTree,
  traceIdOf,
} from '@tollkeeper/call-facts';

/** More than Python can write. A batch has calls of many users, and one of them must not make it unreadable. */
const MAX_LEVELS = 2_000;
/** Most bytes of one object. LiteLLM's have 13 kB beside the prompts. */
const MAX_OBJECT_MIB = 8;
const NEWLINE = 0x0a;
/** Most blanks around a line. */
const MAX_BLANKS = 64;
const NO_ATTRIBUTES: ReadonlyMap<string, AttributeValue> = new Map();
const NO_SCOPE = { name: '' };
const NO_OBJECT = 'is not an object of the generic_api callback';

/** `MalformedBody` for an object that cannot be taken, while others of the body can. */
type Decoded = IntakeRecord | MalformedBody | undefined;

/**
 * The objects of LiteLLM's `generic_api` callback, in order: a JSON array, one object, or an object a line. All come
 * with the same content type, so the first byte and what follows the first object tell them apart. `undefined` where
 * the caller may pause. Throws `MalformedBody` for a body of which no object can be read, and for a broken array.
 */
export function* decodeCallbacks(bytes: Buffer, asked: AskedAttributes): Generator<Decoded> {
  const json = new JsonScanner(bytes, { maxLevels: MAX_LEVELS });
  const paths = callbackPaths(asked);
  const first = json.peek();
  if (first === -1) return;
  if (first === LIST) yield* readArray(json, paths);
  else if (first === OBJECT) yield* readObjects(bytes, json, paths);
  else throw new MalformedBody('is neither a JSON array, nor an object, nor an object a line');
}

/** The objects of a part of a body that has an object a line. What cannot be read is an error in its place. */
export function* decodeLines(bytes: Buffer, asked: AskedAttributes): Generator<Decoded> {
  const paths = callbackPaths(asked);
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline === -1 ? bytes.length : newline;
    const line = bytes.subarray(start, end);
    if (isBlank(line)) yield undefined;
    else yield yield* readLine(line, paths);
    start = end + 1;
  }
}

const isBlank = (line: Buffer) => line.length <= MAX_BLANKS && line.toString('latin1').trim() === '';

/** Divides bodies with an object a line after the last line that is complete, and leaves others whole. */
export function cutAtLines(): (arrived: Buffer) => number {
  let hasLines = false;
  return (arrived) => {
    hasLines ||= beginsWithLines(arrived);
    return hasLines ? arrived.lastIndexOf(NEWLINE) + 1 : 0;
  };
}

/** Whether a line that ends with `}` comes before one that begins with `{`. No JSON value has that. */
function beginsWithLines(bytes: Buffer): boolean {
  const text = (start: number, end: number) => bytes.toString('latin1', Math.max(0, start), end);
  const head = text(0, MAX_BLANKS);
  const first = head.trimStart();
  const newline = bytes.indexOf(NEWLINE, head.length - first.length);
  if (newline === -1) return false;
  const lineEnd = text(newline - MAX_BLANKS, newline).trimEnd();
  const next = text(newline, newline + MAX_BLANKS).trimStart();
  return first.startsWith('{') && lineEnd.endsWith('}') && next.startsWith('{');
}

interface CallbackPaths {
  tree: PathTree;
  /** The names of what is at a path. */
  names: ReadonlyMap<string, readonly string[]>;
}

/**
 * Names with the prefix of callbacks are paths from the root of the object. LiteLLM's spans have the fields of
 * `metadata` as attributes of the same names, with Python inside; there, `#` begins what is a deeper path here.
 */
function callbackPaths({ names }: AskedAttributes): CallbackPaths {
  const paths = new Map<string, string[]>();
  const add = (path: string, name: string) => paths.set(path, [...(paths.get(path) ?? []), name]);
  for (const name of names) {
    if (name.startsWith(CALLBACK_PREFIX)) add(name.slice(CALLBACK_PREFIX.length), name);
    else if (name.startsWith('metadata.')) add(name.replace('#', '.'), name);
  }
  return { tree: pathTree(paths.keys()), names: paths };
}

function* readArray(json: JsonScanner, paths: CallbackPaths): Generator<Decoded> {
  for (const index of json.elements()) {
    if (index === undefined) yield undefined;
    else if (json.peek() === OBJECT) {
      const read = yield* readObject(json, paths);
      yield read;
    } else yield new MalformedBody(NO_OBJECT);
  }
  json.end();
}

/**
 * One object may have several lines. If there are more, or if it cannot be read, each of the others has its own line:
 * so that broken ones do not read on into all that follow.
 */
function* readObjects(bytes: Buffer, json: JsonScanner, paths: CallbackPaths): Generator<Decoded> {
  const start = json.at;
  let first: IntakeRecord | MalformedBody;
  try {
    first = yield* readObject(json, paths);
  } catch (error) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (!(error instanceof MalformedBody) || newline === -1 || bytes.indexOf(OBJECT, newline) === -1) throw error;
    json.moveTo(newline);
    first = error;
  }
  yield first;
  while (json.peek() !== -1) {
    const newline = bytes.indexOf(NEWLINE, json.at);
    const end = newline === -1 ? bytes.length : newline;
    const read = yield* readLine(bytes.subarray(json.at, end), paths);
    yield read;
    json.moveTo(end);
  }
}

function* readLine(bytes: Buffer, paths: CallbackPaths): Generator<undefined, IntakeRecord | MalformedBody> {
  const json = new JsonScanner(bytes, { maxLevels: MAX_LEVELS });
  if (json.peek() !== OBJECT) return new MalformedBody(NO_OBJECT);
  try {
    const read = yield* readObject(json, paths);
    json.end();
    return read;
  } catch (error) {
    if (error instanceof MalformedBody) return error;
    throw error;
  }
}

function* readObject(
  json: JsonScanner,
  { tree, names }: CallbackPaths,
): Generator<undefined, IntakeRecord | MalformedBody> {
  const start = json.at;
  const found = yield* readTree(json, tree);
  if (json.at - start > MAX_OBJECT_MIB * 1024 * 1024) {
    return new MalformedBody(`has more than ${MAX_OBJECT_MIB} MiB: set turn_off_message_logging in LiteLLM`);
  }
  const attributes = new Map(
    [...found].flatMap(([path, value]) => names.get(path)!.map((name) => [name, value] as const)),
  );
  const traceId = attributes.get(`${CALLBACK_PREFIX}trace_id`);
  return {
    ...emptyRecord('callback', { scope: NO_SCOPE, resource: NO_ATTRIBUTES, attributes }),
    traceId: typeof traceId === 'string' ? traceIdOf(traceId) : null,
  };
}
