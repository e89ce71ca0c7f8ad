import protobuf from 'protobufjs/minimal.js';

/** Numbers of fields of `StreamAccessLogsMessage`. */
const MESSAGE = { identifier: 1, httpLogs: 2 };
const IDENTIFIER = { logName: 2 };
const HTTP_LOGS = { logEntry: 1 };
/** The type of fields that have a length: texts and messages. */
const WITH_LENGTH = 2;
const MAX_NAME_BYTES = 128;

/** The `log_name` of a message of Envoy's access log; empty without one, and for a longer one than any of use. */
export function logNameOf(message: Uint8Array): string {
  let name: Uint8Array = new Uint8Array();
  eachField(message, MESSAGE.identifier, (identifier) =>
    eachField(identifier, IDENTIFIER.logName, (last) => (name = last)),
  );
  return name.length > MAX_NAME_BYTES ? '' : Buffer.from(name).toString();
}

/**
 * The entries of a message of Envoy's access log, which are not decoded: at most `max`. `records` is the number of all.
 * Throws an error of protobufjs if the bytes are no such message.
 */
export function accessLogEntriesOf(message: Uint8Array, max: number): { records: number; entries: Uint8Array[] } {
  const entries: Uint8Array[] = [];
  let records = 0;
  eachField(message, MESSAGE.httpLogs, (logs) =>
    eachField(logs, HTTP_LOGS.logEntry, (entry) => {
      records += 1;
      if (records <= max) entries.push(entry);
    }),
  );
  return { records, entries };
}

/** The fields with this number. All others are skipped. */
function eachField(message: Uint8Array, number: number, read: (field: Uint8Array) => void): void {
  const reader = protobuf.Reader.create(message);
  while (reader.pos < message.length) {
    const tag = reader.uint32();
    if (tag === number * 8 + WITH_LENGTH) read(reader.bytes());
    else reader.skipType(tag & 7);
  }
}
