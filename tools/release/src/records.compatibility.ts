import { findMismatches, type JsonSchema } from './json-schema.compatibility.ts';
import type { RecordContracts, ReleasedRecords, TopicSchemas } from './released-contracts.ts';

const CURRENT = 'this version';

const READ_BOTH =
  'What is in the log must stay readable: make a new field optional or give it a default, and read both forms of a changed one.';
const READERS_FIRST =
  'Readers go first: widen `reads` in LOG_RECORDS and release every reader; write it in a later release.';

/**
 * What in `current`, all services taken together, does not go with one released before: its records that can't be read
 * any more, and records that it can't read. One sentence each, with the topic, the field and the way out.
 */
export function findRecordBreaks({ release, reads, writes }: ReleasedRecords, current: RecordContracts): string[] {
  return [
    ...compareTopics(writes, current.reads, { writer: release, reader: CURRENT }).map((at) => `${at}. ${READ_BOTH}`),
    ...compareTopics(current.writes, reads, { writer: CURRENT, reader: release }).map(
      (at) => `${at}. ${READERS_FIRST}`,
    ),
  ];
}

function compareTopics(
  written: Record<string, TopicSchemas>,
  read: Record<string, TopicSchemas>,
  names: { writer: string; reader: string },
): string[] {
  return Object.entries(written).flatMap(([topic, kinds]) => {
    const readers = read[topic];
    if (readers === undefined) return [];
    return Object.entries(kinds).flatMap(([kind, schema]) => {
      const target = readers[kind] ?? readers['other'];
      if (target === undefined) return [`${topic}: ${names.writer} writes ${kind}, ${names.reader} does not read it`];
      return compareKind(schema, target, names).map((problem) => `${topic} (${kind}): ${problem}`);
    });
  });
}

function compareKind(written: JsonSchema, read: JsonSchema, names: { writer: string; reader: string }): string[] {
  const parties = {
    writer: { name: names.writer, document: written },
    reader: { name: names.reader, document: read },
  };
  return findMismatches(written, read, parties).map(({ path, message }) => `${path}: ${message}`);
}
