import { describe, expect, it } from '@jest/globals';
import { FACT_TABLE, factTableOf } from '@tollkeeper/call-facts';
import { DEFAULT_REPORT_MAPPING, type ReportMapping } from '@tollkeeper/contracts';
import { type TestSpan, type TestValue, traces } from '../../test/otlp.bodies.ts';
import { readCalls } from './calls.ts';
import { decodeLitellm, decodeOtlp, type Encoding } from './decode.ts';

const NOW = Date.parse('2026-11-26T10:00:00Z');
const [TRACE, OUTER, INNER] = ['a'.repeat(32), 'b'.repeat(16), 'c'.repeat(16)];

const tableOf = (mapping: Partial<ReportMapping>) => factTableOf({ ...DEFAULT_REPORT_MAPPING, ...mapping });

interface Sent {
  mapping: Partial<ReportMapping>;
  call: Record<string, TestValue>;
  around?: Record<string, TestValue>;
  resource?: Record<string, string>;
  encoding?: Encoding;
  agent?: string;
}

/** Agent, run and labels of a call inside another span, as spans of OTLP. */
async function readSpans({ mapping, call, around = {}, resource = {}, encoding = 'protobuf', agent }: Sent) {
  const table = tableOf(mapping);
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.cost': 1 };
  const spans: TestSpan[] = [
    {
      traceId: TRACE,
      spanId: OUTER,
      attributes: Object.entries({ 'gen_ai.operation.name': 'invoke_agent', ...around }),
    },
    { traceId: TRACE, spanId: INNER, parentSpanId: OUTER, attributes: Object.entries({ ...chat, ...call }) },
  ];
  const bytes = traces({ resource: Object.entries(resource), spans }, encoding);
  const records = await decodeOtlp(bytes, 'span', encoding, { asked: table.asked });
  const { calls, facts } = await readCalls(records, { receivedMs: NOW, table, agent, explained: 1 });
  expect(calls).toHaveLength(1);
  const { agentId, runId, labels } = calls[0]!;
  return { agentId, runId, labels, facts: facts[0]! };
}

describe('the mapping of a key', () => {
  const mapping = { agent: 'app.agent', run: 'app.run', labels: { project: 'app.project', team: 'app.team' } };

  it.each<Encoding>(['protobuf', 'json'])(
    'names agent, run and labels before all other names, in %s',
    async (encoding) => {
      const call = { 'app.agent': 'mine', 'app.run': 7, 'app.project': 'apollo', 'app.team': 'growth' };
      const others = { 'gen_ai.agent.name': 'theirs', 'session.id': 'session', 'team.id': 'platform', 'user.id': 'u1' };
      const { facts, ...read } = await readSpans({ mapping, call: { ...others, ...call }, encoding });
      expect(read).toEqual({
        ...{ agentId: 'mine', runId: '7' },
        labels: { project: 'apollo', team: 'growth', user: 'u1' },
      });
      expect(facts).toEqual(
        expect.arrayContaining([
          { fact: 'agent', name: 'app.agent', value: 'mine' },
          { fact: 'label_project', name: 'app.project', value: 'apollo' },
        ]),
      );
    },
  );

  it('takes them from the nearest span around the call, and then from the resource', async () => {
    const resource = { 'app.agent': 'of-resource', 'app.project': 'of-resource' };
    const { agentId, labels, facts } = await readSpans({
      mapping,
      call: {},
      around: { 'app.agent': 'around' },
      resource,
    });
    expect([agentId, labels]).toEqual(['around', { project: 'of-resource' }]);
    expect(facts).toEqual(
      expect.arrayContaining([
        { fact: 'agent', name: 'app.agent of a span around it', value: 'around' },
        { fact: 'label_project', name: 'resource app.project', value: 'of-resource' },
      ]),
    );
  });

  it('leaves the names of all senders where it names nothing that is there', async () => {
    const call = { 'gen_ai.agent.name': 'theirs', 'session.id': 'session', 'team.id': 'platform' };
    const { agentId, runId, labels } = await readSpans({ mapping, call });
    expect([agentId, runId, labels]).toEqual(['theirs', 'session', { team: 'platform' }]);
  });

  it('gives way to the agent that the request names, and leaves out what cannot be a label', async () => {
    const call = { 'app.agent': 'mine', 'app.project': 'x'.repeat(129) };
    const { agentId, labels } = await readSpans({ mapping, call, agent: 'header' });
    expect([agentId, labels]).toEqual(['header', {}]);
  });

  it('may name paths in JSON, also in an attribute that is read as a whole or by other paths', async () => {
    const details = JSON.stringify({ prompt_tokens: 5, project: 'apollo' });
    const paths = {
      agent: 'app#who.name',
      run: 'app',
      labels: { project: 'langfuse.observation.usage_details#project' },
    };
    const call = { app: '{"who":{"name":"bot"}}', 'langfuse.observation.usage_details': details };
    const { agentId, runId, labels } = await readSpans({ mapping: paths, call });
    expect([agentId, runId, labels]).toEqual(['bot', '--who-:--name-:-bot---', { project: 'apollo' }]);
  });

  it("names paths in LiteLLM's callback, also those that other facts are read from", async () => {
    const table = tableOf({
      agent: '$.metadata.user_api_key_alias',
      run: 'metadata.requester_metadata#job',
      labels: { alias: '$.metadata.user_api_key_alias', job: '$.metadata.requester_metadata.job' },
    });
    const metadata = { user_api_key_alias: 'alias', requester_metadata: { job: 'j1', run_id: 'r1' } };
    const body = JSON.stringify({ id: 'a', response_cost: 1, metadata });
    const { records } = await decodeLitellm(Buffer.from(body), { asked: table.asked });
    const { calls } = await readCalls(records, { receivedMs: NOW, table });
    expect(calls).toMatchObject([{ agentId: 'alias', runId: 'j1', labels: { alias: 'alias', job: 'j1' } }]);
    const { calls: unmapped } = await readCalls(records, { receivedMs: NOW });
    expect(unmapped).toMatchObject([{ agentId: 'alias', runId: 'r1', labels: {} }]);
  });

  it('does not change the id of a call that has none of its own, so that a body sent again counts once', async () => {
    const attributes = Object.entries({ 'gen_ai.operation.name': 'chat', 'gen_ai.usage.cost': 1, 'app.agent': 'mine' });
    const idsBy = async (mapped: Partial<ReportMapping>) => {
      const table = tableOf(mapped);
      const bytes = traces({ spans: [{ attributes }] }, 'protobuf');
      const records = await decodeOtlp(bytes, 'span', 'protobuf', { asked: table.asked });
      const { calls } = await readCalls(records, { receivedMs: NOW, table });
      return calls.map(({ settlementId }) => settlementId);
    };
    expect(await idsBy(mapping)).toEqual(await idsBy({}));
    expect(await idsBy({})).toEqual([expect.stringMatching(/^facts:/)]);
  });

  it('that names nothing reads as all senders do, and keeps nothing more', () => {
    expect(tableOf({ guard: 'mine', priceAnew: true })).toBe(FACT_TABLE);
  });
});
