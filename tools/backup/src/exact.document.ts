import { BSON } from 'mongodb';
import { Failure } from './failure.ts';

const OBJECT = 3;
const ARRAY = 4;

/** Numbers stay 32-bit, 64-bit or floating, as they were stored. */
const TYPED = { promoteValues: false, bsonRegExp: true } as const;

/**
 * A value that the driver sends as these very bytes. An object does, unless it has names like `7`, which JavaScript
 * puts first, or a value that has another form in JavaScript. Then a Map does, which is slower.
 */
export function exactDocument(bytes: Uint8Array): BSON.Document {
  const document = BSON.deserialize(bytes, TYPED);
  if (isWrittenAs(document, bytes)) return document;
  const ordered = orderedDocument(bytes);
  if (isWrittenAs(ordered, bytes)) return ordered;
  const id = BSON.EJSON.stringify(document['_id']);
  throw new Failure(`The document ${id} has a value of a type that cannot be restored. Restore with mongorestore.`);
}

function isWrittenAs(document: BSON.Document, bytes: Uint8Array): boolean {
  return Buffer.compare(BSON.serialize(document), bytes) === 0;
}

function orderedDocument(bytes: Uint8Array): Map<string, unknown> {
  const elements = [...BSON.onDemand.parseToElements(bytes)];
  return new Map(
    elements.map(([type, nameOffset, nameLength, offset, length]) => {
      const name = Buffer.from(bytes.subarray(nameOffset, nameOffset + nameLength)).toString('utf8');
      return [name, valueOf(type, bytes.subarray(offset, offset + length))];
    }),
  );
}

function valueOf(type: number, value: Uint8Array): unknown {
  if (type === OBJECT) return orderedDocument(value);
  if (type === ARRAY) return [...orderedDocument(value).values()];
  // A document with this value alone: its size, the type, the name "v", the value, and the end.
  const document = Buffer.concat([Buffer.alloc(4), Buffer.from([type]), Buffer.from('v\0'), value, Buffer.from([0])]);
  document.writeInt32LE(document.length);
  return BSON.deserialize(document, TYPED)['v'];
}
