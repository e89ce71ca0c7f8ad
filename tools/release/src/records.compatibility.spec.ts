import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { JsonSchema } from './json-schema.compatibility.ts';
import { findRecordBreaks, findRequestBreaks } from './records.compatibility.ts';
import type { RecordContracts } from './released-contracts.ts';

const record = z.object({ v: z.literal(1), id: z.string(), status: z.enum(['open', 'done']) });

const schema = (of: z.ZodType, io: 'input' | 'output') => z.toJSONSchema(of, { io }) as JsonSchema;

/** The contracts of a version that writes `writes` and reads `reads`, by default the same. */
function contracts(writes: z.ZodType, reads = writes): RecordContracts {
  return {
    writes: { things: { thing: schema(writes, 'output') } },
    reads: { things: { thing: schema(reads, 'input') } },
  };
}

function breaks(current: RecordContracts): string[] {
  return findRecordBreaks({ release: 'maker@1.0.0', ...contracts(record) }, current);
}

describe('a change of what stands in the log', () => {
  it.each([
    ['nothing', record],
    ['a new field that need not be there', record.extend({ note: z.string().optional() })],
    ['a new field with a default', record.extend({ note: z.string().default('') })],
  ])('goes with the last release when it is %s', (_case, next) => {
    expect(breaks(contracts(next))).toEqual([]);
  });

  it.each([
    [
      'a new field that old records do not have',
      record.extend({ note: z.string() }),
      'note: maker@1.0.0 may leave it out',
    ],
    ['another type', record.extend({ id: z.int() }), 'id: maker@1.0.0 may write string'],
    [
      'a value that is no longer read',
      record.extend({ status: z.enum(['open']) }),
      'status: maker@1.0.0 may write "done"',
    ],
    ['a limit on what had none', record.extend({ id: z.string().max(5) }), 'id: this version has maxLength 5'],
    [
      'another version alone',
      record.extend({ v: z.literal(2) }),
      'v: maker@1.0.0 may write 1, this version takes only 2',
    ],
  ])('is refused when it makes records unreadable that are there: %s', (_case, next, message) => {
    expect(breaks(contracts(next))).toContainEqual(
      expect.stringMatching(new RegExp(`^things \\(thing\\): ${message}.* What is in the log must stay readable`)),
    );
  });

  it.each([
    [
      'a new value',
      record.extend({ status: z.enum(['open', 'done', 'late']) }),
      'status: this version may write "late"',
    ],
    ['a field less', record.omit({ id: true }), 'id: this version may leave it out'],
    ['null where none was', record.extend({ id: z.string().nullable() }), 'id: this version may write null'],
  ])('is refused when readers of the last release can not take it: %s', (_case, next, message) => {
    expect(breaks(contracts(next))).toContainEqual(
      expect.stringMatching(new RegExp(`^things \\(thing\\): ${message}.* Readers go first`)),
    );
  });

  it('is taken once the readers know it that no writer writes yet', () => {
    const wider = record.extend({ status: z.enum(['open', 'done', 'late']) });
    expect(breaks(contracts(record, wider))).toEqual([]);

    const releasedReaders = { release: 'reader@1.1.0', ...contracts(record, wider) };
    expect(findRecordBreaks(releasedReaders, contracts(wider))).toEqual([]);
  });

  it('is refused when a kind of record is new to readers that have no other', () => {
    const next = contracts(record);
    next.writes['things']!['notice'] = schema(record, 'output');
    expect(breaks(next)).toEqual([expect.stringContaining('this version writes notice, maker@1.0.0 does not read it')]);

    const tolerant = contracts(record);
    tolerant.reads['things']!['other'] = schema(z.looseObject({ id: z.string() }), 'input');
    expect(findRecordBreaks({ release: 'reader@1.0.0', ...tolerant }, next)).toEqual([]);
  });
});

describe('a change of what a service takes over gRPC', () => {
  const request = z.object({ tenantId: z.string().max(10), ids: z.array(z.string()).max(5) });
  const requestsOf = (of: z.ZodType) => ({ keeper: { getThings: schema(of, 'input') } });
  const breaksOf = (next: z.ZodType) => findRequestBreaks(requestsOf(request), requestsOf(next));

  it.each([
    ['a new field that need not be there', request.extend({ note: z.string().optional() })],
    ['a wider limit', request.extend({ ids: z.array(z.string()).max(6) })],
  ])('goes with the callers of the last release when it is %s', (_case, next) => {
    expect(breaksOf(next)).toEqual([]);
  });

  it.each([
    [
      'a new field that callers do not send',
      request.extend({ note: z.string() }),
      'keeper (getThings): note: a caller',
    ],
    ['a narrower limit', request.extend({ ids: z.array(z.string()).max(4) }), 'ids: this version has maxItems 4'],
  ])('is refused when it is %s', (_case, next, problem) => {
    expect(breaksOf(next)).toEqual([expect.stringContaining(problem)]);
  });

  it('is refused when an RPC is gone', () => {
    expect(findRequestBreaks(requestsOf(request), { keeper: {} })).toEqual([expect.stringContaining('getThings')]);
  });
});
