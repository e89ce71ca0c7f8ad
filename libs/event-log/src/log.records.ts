import { AppError } from '@tollkeeper/kernel';
import { type LogRecord, MAX_RECORD_BYTES } from './event-log.ts';

/** Throws if a record is one that no adapter can store. */
export function requireValidRecords(records: readonly LogRecord[]): void {
  for (const { key, value } of records) {
    if (key.length === 0 || key.length > 256) throw new RangeError('A record key has 1 to 256 characters');
    if (value.length > MAX_RECORD_BYTES) {
      throw new AppError(
        'payload_too_large',
        `A record of the event log may have at most ${MAX_RECORD_BYTES} bytes. Send less data.`,
      );
    }
  }
}

/** Approximate bytes of key, value and headers. */
export function sizeOf({ key, value, headers }: LogRecord): number {
  let bytes = key.length + value.length;
  for (const name in headers) bytes += name.length + (headers[name]?.length ?? 0);
  return bytes;
}

/** The records in order, in parts within both limits. A record that exceeds the limit alone is a part of its own. */
export function splitRecords(
  records: readonly LogRecord[],
  { maxBytes, maxRecords = Infinity }: { maxBytes: number; maxRecords?: number },
): LogRecord[][] {
  const parts: LogRecord[][] = [];
  let bytes = 0;
  for (const record of records) {
    const part = parts.at(-1);
    bytes += sizeOf(record);
    if (part === undefined || part.length === maxRecords || bytes > maxBytes) {
      parts.push([record]);
      bytes = sizeOf(record);
    } else {
      part.push(record);
    }
  }
  return parts;
}
