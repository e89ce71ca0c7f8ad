import { findMismatches, type JsonSchema, STRICT, type Strictness } from './json-schema.compatibility.ts';
import type { RecordContracts, ReleasedRecords, SchemasByName } from './released-contracts.ts';

const CURRENT = 'this version';

const READ_BOTH =
  'What is in the log must stay readable: make a new field optional or give it a default, and read both forms of a changed one.';
const READERS_FIRST =
  'Readers go first: widen `reads` in LOG_RECORDS and release every reader; write it in a later release.';
/** Callers send only the fields of their proto file, and servers ignore others. */
const OF_REQUESTS: Strictness = { ...STRICT, unknownFields: false };
const CALLERS_STAY = 'Callers are released on their own: take what they may send, and make a new field optional.';

/**
 * Incompatibilities of `current`, all services together, with an earlier release: its records that can no longer be
 * read, and records that it cannot read. One sentence each, with the topic, the field and the way out.
 */
export function findRecordBreaks({ release, reads, writes }: ReleasedRecords, current: RecordContracts): string[] {
  return [
    ...compareTopics(writes, current.reads, { writer: release, reader: CURRENT }).map((at) => `${at}. ${READ_BOTH}`),
    ...compareTopics(current.writes, reads, { writer: CURRENT, reader: release }).map(
      (at) => `${at}. ${READERS_FIRST}`,
    ),
  ];
}

/**
 * What the services accepted over gRPC in `released`, and no longer accept in `current`. One sentence each, with the
 * service, the RPC, the field and the way out.
 */
export function findRequestBreaks(
  released: Record<string, SchemasByName>,
  current: Record<string, SchemasByName>,
): string[] {
  const names = { writer: 'a caller of the last release', reader: CURRENT };
  const found = compareTopics(released, current, names, OF_REQUESTS);
  return found.map((at) => `${at}. ${CALLERS_STAY}`);
}

function compareTopics(
  written: Record<string, SchemasByName>,
  read: Record<string, SchemasByName>,
  names: { writer: string; reader: string },
  strictness: Strictness = STRICT,
): string[] {
  return Object.entries(written).flatMap(([topic, kinds]) => {
    const readers = read[topic];
    if (readers === undefined) return [];
    return Object.entries(kinds).flatMap(([kind, schema]) => {
      const target = readers[kind] ?? readers['other'];
      if (target === undefined) return [`${topic}: ${names.writer} writes ${kind}, ${names.reader} does not read it`];
      return compareKind(schema, target, names, strictness).map((problem) => `${topic} (${kind}): ${problem}`);
    });
  });
}

function compareKind(
  written: JsonSchema,
  read: JsonSchema,
  names: { writer: string; reader: string },
  strictness: Strictness,
): string[] {
  const parties = {
    writer: { name: names.writer, document: written },
    reader: { name: names.reader, document: read },
  };
  return findMismatches(written, read, parties, strictness).map(({ path, message }) => `${path}: ${message}`);
}
