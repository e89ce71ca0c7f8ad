import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type AttributeValue, createSpanTree, emptyRecord, factsOf, type IntakeRecord } from '@tollkeeper/call-facts';
import { identityOf } from './identity.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const LONG = 'chatcmpl-C0000000000000000000000000031';
const sha = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 32);

function identity(
  attributes: Record<string, AttributeValue>,
  { kind = 'span', scope = 'test', ...fields }: Partial<Omit<IntakeRecord, 'scope'>> & { scope?: string } = {},
) {
  const of = { scope: { name: scope }, resource: new Map(), attributes: new Map(Object.entries(attributes)) };
  const record = { ...emptyRecord(kind, of), traceId: TRACE, spanId: SPAN, ...fields };
  return identityOf(record, factsOf(record, createSpanTree()));
}

const settlementId = (...of: Parameters<typeof identity>) => identity(...of).settlementId;

describe('the settlement id', () => {
  it('is the one that the sender gives, before all others', () => {
    const given = { 'tollkeeper.settlement_id': 'stl_1', 'gen_ai.response.id': LONG, 'litellm.call_id': 'c-1' };
    expect(settlementId(given)).toBe('stl_1');
    expect(settlementId({ ...given, 'tollkeeper.settlement_id': 'not an id' })).toBe(`rsp:${sha(LONG)}`);
  });

  it.each(['gen_ai.response.id', 'ai.response.id', '$.id'])(
    'is made of the response id in %s, in 32 digits',
    (name) => {
      expect(settlementId({ [name]: LONG, 'litellm.call_id': 'c-1' })).toBe(`rsp:${sha(LONG)}`);
    },
  );

  it.each([
    ['chatcmpl-12345678901234567890', true],
    ['chatcmpl-1234567890123456789', false],
    ['msg_12345678901234567890', true],
    ['123456789-12345678901234567890', true],
    ['123456789-1234567890123456789', false],
    // The separator is not within the first 10 characters, so all of it counts.
    ['1234567890-123456789', true],
    ['12345678901234567890', true],
    ['1234567890123456789', false],
    // Only the first separator ends a prefix.
    ['a-b_5678901234567890', false],
    ['a-b_56789012345678901', false],
    ['a-b_567890123456789012', true],
  ])('of the response id %s: long enough to be unique is %p', (id, isUnique) => {
    const expected = isUnique ? `rsp:${sha(id)}` : 'call:c-1';
    expect(settlementId({ 'gen_ai.response.id': id, 'litellm.call_id': 'c-1' })).toBe(expected);
  });

  it.each([
    ['$.id', '$.litellm_call_id'],
    ['gen_ai.response.id', 'litellm.call_id'],
  ])("is the gateway's call id if %s only repeats that", (id, callId) => {
    const uuid = 'fecb8691-b0ff-4ae5-9b71-f56ddafc6107';
    expect(settlementId({ [id]: uuid, [callId]: uuid })).toBe(`call:${uuid}`);
  });

  it.each(['tollkeeper.call_id', 'litellm.call_id', '$.litellm_call_id', 'x-request-id'])(
    'is the call id in %s without a response id',
    (name) => {
      expect(settlementId({ [name]: 'c-1' })).toBe('call:c-1');
      expect(settlementId({ [name]: 'not an id' })).toBe(`call:${sha('not an id')}`);
    },
  );

  it('is of the session and the order in it for Claude Code, so that a repeated batch has the same', () => {
    const turn = {
      'session.id': 's',
      'prompt.id': 'p',
      'event.sequence': 1,
      'event.timestamp': '2026-11-26T09:00:11Z',
    };
    const claude = { kind: 'log', scope: 'com.anthropic.claude_code.events' } as const;
    const first = settlementId({ ...turn, input_tokens: 176 }, claude);
    expect(first).toMatch(/^cc:[0-9a-f]{32}$/);
    expect(settlementId({ ...turn, 'event.sequence': '1', input_tokens: '176' }, claude)).toBe(first);
    for (const [name, value] of Object.entries({ ...turn, input_tokens: 176, output_tokens: 5 })) {
      expect(settlementId({ ...turn, input_tokens: 176, [name]: `${value}0` }, claude)).not.toBe(first);
    }
  });

  it('is of the conversation and the time for Codex', () => {
    const event = { 'event.name': 'codex.sse_event', 'conversation.id': 'c', input_token_count: '1200' };
    const at = (time: string) => settlementId({ ...event, 'event.timestamp': time }, { kind: 'log' });
    expect(at('2026-11-26T09:00:11.649Z')).toMatch(/^cx:[0-9a-f]{32}$/);
    expect(at('2026-11-26T09:00:11.649Z')).not.toBe(at('2026-11-26T09:00:11.650Z'));
  });

  it('is that of the span otherwise', () => {
    expect(settlementId({})).toBe(`otel:${TRACE}:${SPAN}`);
  });

  it('without ids is of the facts in any order', () => {
    const none = { traceId: null, spanId: null, timeMs: 5 };
    const id = settlementId({ 'user.id': 1, 'team.id': '2' }, none);
    expect(id).toMatch(/^facts:[0-9a-f]{32}$/);
    expect(settlementId({ 'team.id': 2, 'user.id': '1' }, none)).toBe(id);
    expect(settlementId({ 'user.id': 1, 'team.id': '3' }, none)).not.toBe(id);
    expect(settlementId({ 'user.id': 1, 'team.id': '2' }, { ...none, timeMs: 6 })).not.toBe(id);
  });
});

describe('the request id, by which a reservation is found', () => {
  it('is the reservation, or else the call', () => {
    expect(identity({ 'tollkeeper.reservation_id': 'rsv_1', 'tollkeeper.call_id': 'c' }).requestId).toBe('rsv_1');
    expect(identity({ 'tollkeeper.reservation_id': '-', 'tollkeeper.call_id': 'c' }).requestId).toBe('call:c');
    expect(identity({ 'gen_ai.response.id': LONG }).requestId).toBeUndefined();
  });
});
