import { describe, expect, it } from '@jest/globals';
import { MAX_MICROS, provenTenantId } from '@tollkeeper/kernel';
import { decodeGatewayEvent, encodeGatewayEvent } from './event-record.ts';
import { type GatewayEvent, gatewayEventSchema, isSpendSettled } from './events.ts';
import { toErrorDetails } from './validation.ts';

const spend = {
  specversion: '1.0',
  id: 'evt-1',
  source: '/gateways/eu-1',
  type: 'spend.settled',
  time: '2026-11-21T18:00:00.123Z',
  data: { settlement_id: 'stl-1', run_id: 'run-1', agent_id: 'agent-1', amount_micros: 5170 },
};
const withData = (extra: object) => ({ ...spend, data: { ...spend.data, ...extra } });
const TOKENS = { input: 176, cache_read: 1024, cache_write: 200, cache_write_1h: 100, output: 345, reasoning: 128 };
/** Every field that says more about a settlement. */
const DETAILS = {
  request_id: 'call:6d291b4e',
  tokens: TOKENS,
  priced_by: 'table',
  price_id: 'vertex_ai/claude-haiku-4-5@20251001',
  price_version: 'a1b2c3',
  sender_amount: '0.0051699999999999995',
  service_tier: 'batch',
  response_model: 'gpt-4o-2026-08-06',
  request_model: 'gpt-4o',
  flags: ['usage_inferred', 'late'],
};

function problemsOf(input: unknown) {
  const result = gatewayEventSchema.safeParse(input);
  return result.success ? [] : toErrorDetails(result.error.issues);
}

function settled(extra: object) {
  const event = gatewayEventSchema.parse(withData(extra));
  if (!isSpendSettled(event)) throw new Error('It is no settlement');
  return event.data;
}

describe('the details of a settlement', () => {
  it('are taken, and are in the record of the log', () => {
    const totals = { input_tokens: 1500, output_tokens: 345 };
    const event = gatewayEventSchema.parse(withData({ ...DETAILS, ...totals }));
    expect(event).toEqual(withData({ ...DETAILS, ...totals }));
    const record = { tenantId: provenTenantId('ws_1'), receivedAt: '2026-11-21T18:00:01.000Z', event };
    expect(decodeGatewayEvent(encodeGatewayEvent(record).value)).toEqual(record);
  });

  it('are not added to a settlement that has none: its record is as it was, byte for byte', () => {
    const event = gatewayEventSchema.parse(withData({ input_tokens: 5 }));
    const record = { tenantId: provenTenantId('ws_1'), receivedAt: '2026-11-21T18:00:01.000Z', event };
    expect(encodeGatewayEvent(record).value.toString()).toBe(
      '{"v":1,"event":{"type":"spend.settled","specversion":"1.0","id":"evt-1","source":"/gateways/eu-1",' +
        '"time":"2026-11-21T18:00:00.123Z","data":{"settlement_id":"stl-1","run_id":"run-1","agent_id":"agent-1",' +
        '"amount_micros":5170,"input_tokens":5}},"tenant_id":"ws_1","received_at":"2026-11-21T18:00:01.000Z"}',
    );
  });

  it.each<[string, unknown[]]>([
    ['request_id', ['', 'a b', 'x'.repeat(129), 7, null]],
    ['priced_by', ['', 'me', null]],
    ['price_id', ['', 'a b', 'x'.repeat(129), 7]],
    ['price_version', ['', 'x'.repeat(129)]],
    ['sender_amount', ['', '-1', '1.', '.5', '1,5', 'NaN', '$1', '1'.repeat(41), '1e1000', 0.5]],
    ['service_tier', ['', 'x'.repeat(65), null]],
    ['response_model', ['', '€'.repeat(43)]],
    ['request_model', ['', 'x'.repeat(129)]],
    ['flags', ['late', ['late', 'late'], ['late', 'sampled', 'usage_inferred', 'late'], null]],
    ['tokens', [null, 5, [], { input: MAX_MICROS, cache_read: 1 }]],
  ])('are refused by name: %s', (name, values) => {
    for (const value of values) {
      expect(problemsOf(withData({ [name]: value })).map(({ path }) => path)).toEqual([`data.${name}`]);
    }
  });

  it('are refused for a flag that is not known, and for an unknown kind of tokens', () => {
    expect(problemsOf(withData({ flags: ['late', 'early'] }))).toEqual([
      { path: 'data.flags[1]', message: 'must be usage_inferred or sampled or late' },
    ]);
    expect(problemsOf(withData({ tokens: { audio: 1 } }))).toEqual([
      { path: 'data.tokens.audio', message: 'is not a known field' },
    ]);
  });

  it.each(['0', '12', '0.0071351999999999995', '1e-07', '2.5E+3'])(
    'take the amount of a sender as sent: %s',
    (sent) => {
      expect(settled({ sender_amount: sent }).sender_amount).toBe(sent);
    },
  );
});

describe('the tokens of a settlement by kind', () => {
  it('add up to its totals, which may be left out', () => {
    expect(settled({ tokens: TOKENS })).toMatchObject({ input_tokens: 1500, output_tokens: 345 });
    expect(settled({ tokens: TOKENS, input_tokens: 1500, output_tokens: 345 })).toMatchObject({ tokens: TOKENS });
    expect(settled({ tokens: {} })).toMatchObject({ input_tokens: 0, output_tokens: 0 });
    expect(settled({})).not.toHaveProperty('input_tokens');
  });

  it.each(Object.keys(TOKENS))('are each a number of tokens: %s', (name) => {
    for (const value of [-1, 0.5, MAX_MICROS + 1, '5', null]) {
      expect(problemsOf(withData({ tokens: { [name]: value } })).map(({ path }) => path)).toEqual([
        `data.tokens.${name}`,
      ]);
    }
  });

  it('are refused where the totals are others, with what they must be', () => {
    expect(problemsOf(withData({ tokens: TOKENS, input_tokens: 176, output_tokens: 217 }))).toEqual([
      {
        path: 'data.input_tokens',
        message: 'must be absent or 1500, the sum of input, cache_read, cache_write and cache_write_1h of tokens',
      },
      { path: 'data.output_tokens', message: 'must be absent or 345, as tokens.output is' },
    ]);
  });

  it('have no more reasoning than output, which includes it', () => {
    expect(problemsOf(withData({ tokens: { output: 5, reasoning: 6 } }))).toEqual([
      { path: 'data.tokens.reasoning', message: 'must be at most tokens.output, which includes it' },
    ]);
    expect(settled({ tokens: { output: 5, reasoning: 5 } })).toMatchObject({ output_tokens: 5 });
  });
});

describe('the record of a settlement', () => {
  const tenantId = provenTenantId('ws_1');
  const receivedAt = '2026-11-21T18:00:01.000Z';

  it('lets values by that a newer producer added: kinds of tokens, flags, and who prices', () => {
    const event = gatewayEventSchema.parse(withData(DETAILS));
    const newer = JSON.parse(encodeGatewayEvent({ tenantId, receivedAt, event }).value.toString());
    const added = { priced_by: 'contract', flags: ['early'] };
    Object.assign(newer.event.data, added, { tokens: { ...TOKENS, audio: 7 } });
    const { data } = decodeGatewayEvent(Buffer.from(JSON.stringify(newer))).event;
    expect(data).toEqual({ ...event.data, ...added });
  });

  it('takes less than 24 KiB in the log, at its largest', () => {
    // A control character takes six bytes in JSON.
    const [id, name] = ['x'.repeat(128), '\u0001'.repeat(128)];
    const kinds = Object.fromEntries(Object.keys(TOKENS).map((kind) => [kind, 2 ** 50]));
    const ids = { settlement_id: id, run_id: id, agent_id: id, reservation_id: id, request_id: id };
    const models = { model: name, provider: name, response_model: name, request_model: name };
    const event = gatewayEventSchema.parse({
      ...{ ...spend, id, source: '"'.repeat(256) },
      data: {
        ...{ ...ids, ...models, ...DETAILS, request_id: id, amount_micros: MAX_MICROS, tokens: kinds },
        ...{ plan_key: 'x'.repeat(64), price_id: id, price_version: id, service_tier: '\u0001'.repeat(64) },
        ...{ sender_amount: `${'1'.repeat(40)}.${'1'.repeat(40)}e+100`, ...models },
      },
    });
    // Those of its call, its agent and its key.
    const labels = Array.from({ length: 30 }, (_, nth) => [`${'x'.repeat(30)}${nth}`, '\uffff'.repeat(128)]);
    const labelled = { ...event, data: { ...event.data, labels: Object.fromEntries(labels) } } as GatewayEvent;
    const record = { tenantId: provenTenantId(id), receivedAt, keyId: id, event: labelled };
    expect(encodeGatewayEvent(record).value.length).toBeLessThan(24 * 1024);
  });
});
