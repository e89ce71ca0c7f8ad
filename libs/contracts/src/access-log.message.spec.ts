import { expect, it } from '@jest/globals';
import { accessLogEntriesOf, logNameOf } from './access-log.message.ts';
import { accessLogEntry, accessLogService } from './services.ts';

const { requestSerialize } = accessLogService.StreamAccessLogs;
const entry = (requestId: string) => ({ request: { requestId } });
const message = (logName: string, ...ids: string[]) =>
  requestSerialize({ identifier: { logName }, httpLogs: { logEntry: ids.map(entry) } });
/** A field of a later version of Envoy. */
const UNKNOWN = Buffer.from([0x7a, 2, 1, 2]);

it('has the name and the entries of a message of an access log, without those of fields that it does not know', () => {
  const bytes = Buffer.concat([UNKNOWN, message('tollkeeper', 'a', 'b'), UNKNOWN]);
  const { records, entries } = accessLogEntriesOf(bytes, 10);
  expect([logNameOf(bytes), records]).toEqual(['tollkeeper', 2]);
  expect(entries.map((one) => accessLogEntry.deserialize(Buffer.from(one)))).toMatchObject([entry('a'), entry('b')]);
});

it('counts entries beyond the most, and those of a message in two parts', () => {
  const { records, entries } = accessLogEntriesOf(Buffer.concat([message('x', 'a', 'b'), message('x', 'c')]), 2);
  expect([records, entries.length]).toEqual([3, 2]);
});

it('has no name where a message has none, or a longer one than any of use', () => {
  expect([logNameOf(Buffer.alloc(0)), logNameOf(message('x'.repeat(129)))]).toEqual(['', '']);
});

it.each([
  ['that ends too early', message('x', 'a').subarray(0, -1)],
  ['with a group that has no end', Buffer.from([0x0b])],
])('throws for bytes %s', (_what, bytes) => {
  expect(() => accessLogEntriesOf(bytes, 10)).toThrow();
});
