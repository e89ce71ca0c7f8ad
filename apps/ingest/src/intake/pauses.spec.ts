import { describe, expect, it } from '@jest/globals';
import protobuf from 'protobufjs/minimal.js';
import { ASKED, eachInSlices } from '@tollkeeper/call-facts';
import { errorOf } from '../../test/otlp.bodies.ts';
import { decodeOtlp } from './decode.ts';
import { decodeCallbacks } from './litellm-callback.ts';
import { decodeJson } from './otlp-json.ts';
import { decodeProtobuf } from './otlp-protobuf.ts';

const SIZE = 512 * 1024;
/** Every 16 KiB, and less often only where a text is skipped by its length. */
const LEAST_PAUSES = SIZE / (16 * 1024) - 3;

function pausesOf(decoding: Iterable<unknown>): number {
  let pauses = 0;
  for (const each of decoding) if (each === undefined) pauses += 1;
  return pauses;
}

/** A message around these bytes: a field, its length, and they. */
function field(number: number, bytes: Uint8Array): Buffer {
  const writer = protobuf.Writer.create();
  return Buffer.from(
    writer
      .uint32((number << 3) | 2)
      .bytes(bytes)
      .finish(),
  );
}

const filled = (unit: Uint8Array) => Buffer.alloc(SIZE, unit);
const inFields = (bytes: Buffer, ...numbers: number[]) =>
  numbers.reduceRight((inner, each) => field(each, inner), bytes);

const EMPTY_FIELD_1 = field(1, Buffer.alloc(0));
const EMPTY_FIELD_2 = field(2, Buffer.alloc(0));
const EMPTY_FIELD_9 = field(9, Buffer.alloc(0));
/** A number in the field 7, which requests, resources and scopes do not have. */
const UNKNOWN = Buffer.from([7 << 3, 0]);
const USAGE = field(
  9,
  Buffer.concat([
    field(1, Buffer.from('langfuse.observation.usage_details')),
    field(2, field(1, Buffer.from(`{"a":${'['.repeat(50)}${']'.repeat(50)}}`))),
  ]),
);

describe('reading protobuf pauses every 16 KiB', () => {
  it.each([
    ['fields of the request', filled(UNKNOWN)],
    ['empty resources', filled(EMPTY_FIELD_1)],
    ['fields of a resource and its scopes', inFields(filled(UNKNOWN), 1)],
    ['empty scopes', inFields(filled(EMPTY_FIELD_2), 1)],
    ['empty attributes of a resource', inFields(filled(EMPTY_FIELD_1), 1, 1)],
    ['fields of a scope', inFields(filled(UNKNOWN), 1, 2)],
    ['fields of a span', inFields(filled(UNKNOWN), 1, 2, 2)],
    ['empty attributes of a span', inFields(filled(EMPTY_FIELD_9), 1, 2, 2)],
    ['JSON in attributes of a span', inFields(filled(USAGE).subarray(0, SIZE - (SIZE % USAGE.length)), 1, 2, 2)],
  ])('in %s', (_case, bytes) => {
    expect(pausesOf(decodeProtobuf(bytes, 'span', ASKED))).toBeGreaterThanOrEqual(LEAST_PAUSES);
  });

  it.each([
    ['more than 1,000 fields in a scope', inFields(filled(UNKNOWN), 1, 2, 1)],
    ['more than 1,000 fields in an attribute', inFields(filled(UNKNOWN), 1, 2, 2, 9)],
    ['more than 1,000 fields in a status', inFields(filled(UNKNOWN), 1, 2, 2, 15)],
    ['a group', Buffer.from([(7 << 3) | 3, (7 << 3) | 4])],
    ['a field without a number', Buffer.from([0, 0])],
  ])('and refuses %s, which are read without a pause', async (_case, bytes) => {
    expect(await errorOf(decodeOtlp(bytes, 'span', 'protobuf'))).toMatchObject({ code: 'invalid_request' });
  });

  it('and reads the first 100 elements of a list', () => {
    const list = inFields(filled(EMPTY_FIELD_1), 5);
    const attribute = Buffer.concat([field(1, Buffer.from('gen_ai.response.finish_reasons')), field(2, list)]);
    const records = [...decodeProtobuf(inFields(attribute, 1, 2, 2, 9), 'span', ASKED)];
    expect(records).toContainEqual(
      expect.objectContaining({ attributes: new Map([['gen_ai.response.finish_reasons', []]]) }),
    );
  });
});

const many = (unit: string) => unit.repeat(Math.ceil(SIZE / unit.length));
const inSpan = (fields: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[{${fields}}]}]}]}`;

describe('reading JSON pauses every 16 KiB', () => {
  it.each([
    ['values', `{"x":[${many('0,')}0]}`],
    ['objects', `{"x":[${many('{},')}0]}`],
    ['escaped quotes', `{"x":"${many('\\"')}"}`],
    ['escaped quotes of a key', `{"${many('\\"')}":1}`],
    ['keys', `{${many('"x":0,')}"x":0}`],
    ['empty resources', `{"resourceSpans":[${many('{},')}{}]}`],
    ['keys of a resource', `{"resourceSpans":[{"resource":{${many('"x":0,')}"x":0}}]}`],
    ['empty attributes of a resource', `{"resourceSpans":[{"resource":{"attributes":[${many('{},')}{}]}}]}`],
    ['empty scopes', `{"resourceSpans":[{"scopeSpans":[${many('{},')}{}]}]}`],
    ['keys of a span', inSpan(`${many('"x":0,')}"x":0`)],
    ['keys of a status', inSpan(`"status":{${many('"x":0,')}"x":0}`)],
    ['a value of an id', inSpan(`"traceId":[${many('0,')}0]`)],
    ['empty attributes', inSpan(`"attributes":[${many('{},')}{}]`)],
    [
      'an attribute that is asked for',
      inSpan(`"attributes":[{"key":"gen_ai.agent.name","value":{"arrayValue":[${many('{},')}{}]}}]`),
    ],
  ])('in %s of OTLP', (_case, json) => {
    expect(pausesOf(decodeJson(Buffer.from(json), 'span', ASKED))).toBeGreaterThanOrEqual(LEAST_PAUSES);
  });

  it.each([
    ['values', `[{"messages":[${many('0,')}0]}]`],
    ['values of a mapped key', `[{"metadata":{"usage_object":[${many('0,')}0]}}]`],
    ['elements of a mapped list', `[{"guardrail_information":[${many('{},')}{}]}]`],
    ['keys', `{${many('"x":0,')}"x":0}`],
  ])('in %s of LiteLLM', (_case, json) => {
    expect(pausesOf(decodeCallbacks(Buffer.from(json), ASKED))).toBeGreaterThanOrEqual(LEAST_PAUSES);
  });

  it('and refuses more than 64 KiB of blanks, which are read without a pause', async () => {
    const error = await errorOf(decodeOtlp(Buffer.from(`{${many(' ')}}`), 'span', 'json'));
    expect(error).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('blanks') });
  });
});

describe('work in slices', () => {
  it('ends at the next pause when nobody waits for it', async () => {
    const abort = new AbortController();
    const reason = new Error('late');
    let done = 0;
    const each = (ms: number): void => {
      done += 1;
      abort.abort(reason);
      const end = performance.now() + ms;
      while (performance.now() < end);
    };
    expect(await errorOf(eachInSlices([6, 6], each, abort.signal))).toBe(reason);
    expect(done).toBe(1);
  });
});
