import { describe, expect, it } from '@jest/globals';
import { type AttributeValue, emptyRecord, type IntakeRecord } from '@tollkeeper/call-facts';
import { readCalls } from './calls.ts';

const NOW = Date.parse('2026-11-26T10:00:00Z');

/** What one record says. */
async function readOne(kind: IntakeRecord['kind'], attributes: Record<string, AttributeValue>) {
  const of = { scope: { name: 'test' }, resource: new Map(), attributes: new Map(Object.entries(attributes)) };
  return readCalls([{ ...emptyRecord(kind, of), timeMs: NOW }], { receivedMs: NOW });
}

const CHAT = { 'gen_ai.operation.name': 'chat' };

describe('a call without tokens and without a cost', () => {
  it.each<[string, IntakeRecord['kind'], Record<string, AttributeValue>]>([
    ['failed', 'span', { ...CHAT, 'error.type': 'timeout' }],
    ['failed', 'log', { ...CHAT, 'http.response.status_code': 400 }],
    ['no_usage', 'log', { ...CHAT, 'http.response.status_code': 399 }],
    ['failed', 'callback', { '$.status': 'failure' }],
    ['no_usage', 'callback', { '$.status': 'success' }],
    ['client_gone', 'log', { ...CHAT, 'envoy.response_flags': 'UF,DC' }],
    ['no_usage', 'log', { ...CHAT, 'envoy.response_flags': 'UF' }],
  ])('is %s as a %s with %j', async (outcome, kind, attributes) => {
    expect((await readOne(kind, attributes)).calls.map((call) => call.outcome)).toEqual([outcome]);
  });

  it('but with either has spent, even if it failed', async () => {
    for (const spent of ['gen_ai.usage.output_tokens', 'gen_ai.usage.cost']) {
      const { calls } = await readOne('span', { ...CHAT, 'error.type': 'timeout', [spent]: 1 });
      expect(calls).toMatchObject([{ outcome: 'spent' }]);
    }
  });
});

describe('a span with the usage of calls', () => {
  const usage = { 'gen_ai.usage.input_tokens': 100, 'llm.request.type': 'chat' };

  it.each([
    ...['invoke_agent', 'create_agent', 'agent_step', 'execute_tool', 'plan', 'retrieval', 'invoke_workflow'],
    ...['apply_guardrail', 'fetch_response', 'search_memory', 'update_memory_store'],
  ])('is no call as the operation %s', async (operation) => {
    const { calls, notCalls } = await readOne('span', { ...usage, 'gen_ai.operation.name': operation });
    expect(calls).toEqual([]);
    expect([...notCalls.values()]).toEqual([1]);
  });

  it.each(['AGENT', 'CHAIN', 'TOOL', 'GUARDRAIL', 'RETRIEVER'])('is no call as the kind %s', async (kind) => {
    expect((await readOne('span', { ...usage, 'openinference.span.kind': kind })).calls).toEqual([]);
  });
});

it.each<[string, AttributeValue, string[]]>([
  ['sampling.probability', 0.1, ['sampled']],
  ['sampling.probability', 1, []],
  ['SampleRate', '10', ['sampled']],
  ['SampleRate', 1, []],
])('a call whose %s is %j has the flags %j', async (name, value, flags) => {
  const { calls } = await readOne('span', { ...CHAT, 'gen_ai.usage.input_tokens': 1, [name]: value });
  expect(calls).toMatchObject([{ flags }]);
});

it.each([
  ['gold', 'gold', 0],
  ['Gold plan', undefined, 1],
  ['-x', undefined, 1],
  ['x'.repeat(65), undefined, 1],
])('a call that names the plan %j has the plan %j; %i are invalid', async (plan, planKey, invalid) => {
  const { calls, invalidPlans } = await readOne('span', { ...CHAT, 'gen_ai.usage.cost': 1, 'tollkeeper.plan': plan });
  expect([calls.map((call) => call.planKey), invalidPlans]).toEqual([[planKey], invalid]);
});
