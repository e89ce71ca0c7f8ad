import { describe, expect, it } from '@jest/globals';
import { type ErrorDetail, MAX_MICROS } from '@tollkeeper/kernel';
import fc from 'fast-check';
import type { z } from 'zod';
import {
  budgetBlocked,
  EVENTS,
  guardBlocked,
  other,
  priceMissing,
  spend,
  thresholdReached,
  unmetered,
} from '../test/event.samples.ts';
import { countOf, gatewayEventBatchOf, gatewayEventSchema, isSpendSettled, MAX_EVENT_DATA_BYTES } from './events.ts';
import { toErrorDetails } from './validation.ts';

function problemsOf(schema: z.ZodType, input: unknown): ErrorDetail[] {
  const result = schema.safeParse(input);
  return result.success ? [] : toErrorDetails(result.error.issues);
}

const pathsOf = (input: unknown) => problemsOf(gatewayEventSchema, input).map(({ path }) => path);
const gatewayEventBatch = gatewayEventBatchOf(gatewayEventSchema);
const withData = (extra: object) => ({ ...spend, data: { ...spend.data, ...extra } });

describe('the count of a budget.blocked', () => {
  const counting = (count: unknown) => ({ ...budgetBlocked, data: { ...budgetBlocked.data, count } });

  it.each([1, 12, 1_000_000])('is taken: %s', (count) => {
    expect(countOf(gatewayEventSchema.parse(counting(count)))).toBe(count);
  });

  it('is 1 where the event has none', () => {
    expect(countOf(gatewayEventSchema.parse(budgetBlocked))).toBe(1);
  });

  it.each([0, -1, 1.5, 1_000_001, '2', null])('is refused, by name: %s', (count) => {
    const [problem, ...others] = problemsOf(gatewayEventSchema, counting(count));
    expect([problem, others]).toEqual([
      { path: 'data.count', message: 'must be a whole number from 1 to 1000000' },
      [],
    ]);
  });

  it('is no field of a guard.blocked', () => {
    expect(pathsOf({ ...guardBlocked, data: { ...guardBlocked.data, count: 2 } })).toEqual(['data.count']);
  });
});

describe('one event', () => {
  it.each(Object.values(EVENTS))('of type $type is taken, its time in UTC', (input) => {
    expect(gatewayEventSchema.parse(input)).toEqual({ ...input, time: '2026-11-21T18:00:00.123Z' });
  });

  it('takes the optional fields of a settlement', () => {
    const tokens = { input_tokens: 0, output_tokens: MAX_MICROS };
    const extra = { plan_key: 'pro', model: 'm', provider: 'p', ...tokens, reservation_id: 'rsv_1' };
    const event = gatewayEventSchema.parse(withData({ ...extra, amount_micros: MAX_MICROS }));
    expect(isSpendSettled(event) && event.data).toMatchObject(extra);
  });

  it('takes and drops extension attributes and those without a meaning here', () => {
    const input = {
      ...spend,
      traceparent: '00-1',
      partitionkey: 'x',
      subject: 's',
      datacontenttype: 'application/json',
    };
    expect(Object.keys(gatewayEventSchema.parse(input)).sort()).toEqual(Object.keys(spend).sort());
  });

  it.each(['specversion', 'id', 'source', 'type', 'time', 'data'])('without %s is refused by that name', (name) => {
    expect(pathsOf({ ...spend, [name]: undefined })).toContain(name);
  });

  it.each(Object.keys(spend.data))('of spend without %s is refused by that name', (name) => {
    expect(pathsOf(withData({ [name]: undefined }))).toEqual([`data.${name}`]);
  });

  it.each(['agentId', 'amount', '$set', 'constructor'])(
    'of a known type is refused for the unknown field %s',
    (name) => {
      expect(pathsOf(withData({ [name]: 1 }))).toEqual([`data.${name}`]);
    },
  );

  it.each([spend, budgetBlocked, guardBlocked, unmetered])('of type $type takes labels', (input) => {
    const labels = { team: 'growth', 'cost.center': 'Zürich' };
    const event = { ...input, data: { ...input.data, labels } };
    expect(gatewayEventSchema.parse(event).data).toMatchObject({ labels });
    expect(pathsOf({ ...event, data: { ...event.data, labels: { Team: 'a' } } })).toEqual(['data.labels.Team']);
  });

  it.each(['Source', 'data_base64', 'tenant_id', 'x-y', '$where'])('is refused for the attribute %s', (name) => {
    expect(pathsOf({ ...spend, [name]: 'x' })).toEqual([name]);
  });

  it.each([-1, 0.5, MAX_MICROS + 1, '5', null, true, { $gt: 0 }])('is refused for the amount %j', (amount) => {
    expect(pathsOf(withData({ amount_micros: amount }))).toEqual(['data.amount_micros']);
  });

  it.each(['input_tokens', 'output_tokens'])('of spend is refused for %s that are no number of tokens', (name) => {
    for (const tokens of [-1, 0.5, MAX_MICROS + 1, '5', null, true, { $gt: 0 }]) {
      expect(pathsOf(withData({ [name]: tokens }))).toEqual([`data.${name}`]);
    }
  });

  it.each(['', 'a b', 'x'.repeat(129), 7, null, { $gt: '' }])('of spend is refused for the reservation %j', (id) => {
    expect(pathsOf(withData({ reservation_id: id }))).toEqual(['data.reservation_id']);
  });

  it.each<[string, unknown[]]>([
    ['scope', ['run', '', null]],
    ['scope_id', ['a b', '', 7]],
    ['percent', [0, 101, 79.5, '80', null]],
    ['reached_percent', [0, 201, 79.5, '80', null]],
    ['spent_micros', [-1, 0.5]],
    ['daily_budget_usd_micros', [-1, '100']],
    ['agent_id', ['agent-1']],
  ])('of a threshold of a budget is refused for a wrong %s', (name, values) => {
    for (const value of values) {
      const data = { ...thresholdReached.data, [name]: value };
      expect(pathsOf({ ...thresholdReached, data })).toEqual([`data.${name}`]);
    }
  });

  it.each(Object.keys(thresholdReached.data))('of a threshold of a budget is refused without %s', (name) => {
    const data = { ...thresholdReached.data, [name]: undefined };
    expect(pathsOf({ ...thresholdReached, data })).toEqual([`data.${name}`]);
  });

  it.each<[string, unknown[]]>([
    ['call_id', ['a b', '', undefined]],
    ['run_id', ['', undefined]],
    ['agent_id', ['', undefined]],
    ['model', ['', 'x'.repeat(129), 7]],
    ['reason', ['other', '', null, undefined]],
  ])('of an unmetered call is refused for a wrong %s', (name, values) => {
    for (const value of values) {
      expect(pathsOf({ ...unmetered, data: { ...unmetered.data, [name]: value } })).toEqual([`data.${name}`]);
    }
  });

  it.each<[string, unknown[]]>([
    ['model', ['', 'x'.repeat(129), undefined]],
    ['provider', ['', 7]],
    ['agent_id', ['agent-1']],
  ])('of a missing price is refused for a wrong %s', (name, values) => {
    for (const value of values) {
      expect(pathsOf({ ...priceMissing, data: { ...priceMissing.data, [name]: value } })).toEqual([`data.${name}`]);
    }
  });

  it.each(['Tool.called', 'a..b', '.a', 'a.', 'a b', 'x'.repeat(129), 7])('is refused for the type %j', (type) => {
    expect(pathsOf({ ...other, type })).toEqual(['type']);
  });

  it.each(['toString', '__proto__', 'constructor'])('is no known type for being called %s', (type) => {
    expect(() => gatewayEventSchema.safeParse({ ...other, type })).not.toThrow();
  });

  it.each(['run_id', 'agent_id'])('of another type is refused for a %s that is not an identifier', (name) => {
    expect(pathsOf({ ...other, data: { [name]: 'a b' } })).toEqual([`data.${name}`]);
  });

  it.each([null, 5, 'text', [], [spend]])('is refused when it is %j', (input) => {
    expect(pathsOf(input)).toEqual(['']);
  });

  it.each([null, [], 'text'])('of another type is refused for the data %j', (data) => {
    expect(pathsOf({ ...other, data })).toEqual(['data']);
  });

  it('is refused for __proto__ at any depth', () => {
    const text = JSON.stringify({ ...other, data: { a: { b: [{ HERE: 1 }] } } });
    expect(pathsOf(JSON.parse(text.replace('HERE', '__proto__')))).toEqual(['data.a.b[0].__proto__']);
    expect(pathsOf(JSON.parse(JSON.stringify(withData({ HERE: 1 })).replace('HERE', '__proto__')))).toEqual([
      'data.__proto__',
    ]);
    expect(pathsOf(JSON.parse(JSON.stringify({ ...spend, HERE: 1 }).replace('HERE', '__proto__')))).toEqual([
      '__proto__',
    ]);
  });

  it('is refused for data that no document can hold', () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    expect(pathsOf({ ...other, data: JSON.parse(deep) })).toEqual(['data']);
    expect(pathsOf({ ...other, data: { 'a\0b': 1 } })).toEqual(['data.a\0b']);
  });

  it('is refused for data of more than 64 KiB of JSON, counted in bytes', () => {
    const around = Buffer.byteLength('{"text":""}');
    const of = (text: string) => pathsOf({ ...other, data: { text } });
    expect(of('x'.repeat(MAX_EVENT_DATA_BYTES - around))).toEqual([]);
    expect(of('x'.repeat(MAX_EVENT_DATA_BYTES - around + 1))).toEqual(['data']);
    expect(of('€'.repeat(MAX_EVENT_DATA_BYTES / 3))).toEqual(['data']);
  });

  it('is refused for more than 64 extension attributes, and for more than 8 KiB of them', () => {
    const extensions = (count: number, value: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`ext${index}`, value]));
    expect(pathsOf({ ...spend, ...extensions(64, 'x') })).toEqual([]);
    expect(problemsOf(gatewayEventSchema, { ...spend, ...extensions(65, 'x') })).toEqual([
      { path: 'ext0', message: 'is one of 65 extension attributes; an event has at most 64' },
    ]);
    expect(pathsOf({ ...spend, ext: 'x'.repeat(8_000) })).toEqual([]);
    expect(pathsOf({ ...spend, ext: '€'.repeat(2_800) })).toEqual(['ext']);
    expect(pathsOf({ ...spend, ext: JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`) })).toEqual(['ext']);
  });

  it.each([
    ['model', { ...spend, data: { ...spend.data, model: '€'.repeat(43) } }],
    ['provider', { ...spend, data: { ...spend.data, provider: '𝄞'.repeat(33) } }],
    ['guard', { ...guardBlocked, data: { ...guardBlocked.data, guard: 'é'.repeat(65) } }],
  ])('is refused for a %s of more than 128 bytes, however few characters they are', (name, input) => {
    const message = 'must be at most 128 bytes in UTF-8';
    expect(problemsOf(gatewayEventSchema, input)).toEqual([{ path: `data.${name}`, message }]);
  });

  it('takes names of up to 128 bytes, in any script', () => {
    for (const model of ['x'.repeat(128), '€'.repeat(42), '𝄞'.repeat(32)]) {
      expect(pathsOf(withData({ model }))).toEqual([]);
    }
  });

  it('answers any JSON with an event or with problems', () => {
    const nearly = fc.record({
      ...Object.fromEntries(
        Object.entries(spend).map(([key, value]) => [key, fc.oneof(fc.constant(value), fc.jsonValue())]),
      ),
      extra: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), nearly), (input) => {
        const result = gatewayEventSchema.safeParse(input);
        return result.success ? result.data.specversion === '1.0' : result.error.issues.length > 0;
      }),
    );
  });
});

describe('a batch', () => {
  it('keeps the order of its events', () => {
    const inputs = Array.from({ length: 1000 }, (_, index) => ({ ...spend, id: `evt-${index}` }));
    expect(gatewayEventBatch.parse(inputs).map(({ id }) => id)).toEqual(inputs.map(({ id }) => id));
  });

  it('names every bad event by its index, and is refused as a whole', () => {
    const inputs = [spend, { ...spend, time: 'now' }, other, withData({ amount_micros: -1 })];
    expect(problemsOf(gatewayEventBatch, inputs)).toEqual([
      { path: '[1].time', message: expect.stringContaining('RFC 3339') },
      { path: '[3].data.amount_micros', message: 'must not be negative' },
    ]);
  });

  it.each([[[]], [spend], [Array(1001).fill(spend)]])('is an array of 1 to 1000 events (%#)', (input) => {
    expect(problemsOf(gatewayEventBatch, input)).toHaveLength(1);
  });

  it('reports the unknown names of an event once, however many there are: the first ones and how many more', () => {
    const names = Array.from({ length: 740 }, (_, index) => `Name${index}`);
    const unknown = Object.fromEntries(names.map((name) => [name, 1]));
    const others = 'nor are Name1, Name2, Name3, Name4 and 735 more';
    expect(problemsOf(gatewayEventBatch, [spend, { ...spend, ...unknown }, withData(unknown)])).toEqual([
      { path: '[1].Name0', message: `is not a CloudEvents 1.0 attribute, ${others}` },
      { path: '[2].data.Name0', message: `is not a known field, ${others}` },
    ]);
  });

  it('answers at most 100 problems', () => {
    expect(problemsOf(gatewayEventBatch, Array(1000).fill({}))).toHaveLength(100);
  });
});
