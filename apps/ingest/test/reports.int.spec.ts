import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useIngest } from './ingest.stack.ts';
import { bodyOf, RECEIVED_MS, RECORDED, recorded, type RecordedBody, recordsOf } from './senders.ts';

const mongo = useMongo();
const ingest = useIngest(mongo);

type Issued = ReturnType<typeof ingest.keys.issue>;

/** A key of a workspace of its own, whose reports somebody waits to see. */
function watchedKey(): Issued {
  const key = ingest.keys.issue();
  ingest.keys.watch(key.tenantId);
  return key;
}

async function post(
  path: string,
  bytes: Buffer | string,
  { apiKey }: Issued,
  type = 'application/json',
  more: Record<string, string> = {},
) {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': type, ...more };
  const answer = await fetch(ingest.url() + path, { method: 'POST', headers, body: Buffer.from(bytes) });
  await answer.arrayBuffer();
  return answer.status;
}

const send = ({ file, path, headers }: RecordedBody, key: Issued) =>
  post(path, bodyOf(file), key, headers['content-type']);

const shown = ({ tenantId }: Issued) => ingest.keys.reports.filter((report) => report.tenantId === tenantId);

describe('what was understood of a report', () => {
  it('goes nowhere while nobody watches the workspace', async () => {
    ingest.clock.now = RECEIVED_MS;
    const [unwatched, watched] = [ingest.keys.issue(), watchedKey()];
    const body = recorded('codex-0.169.0-logs.json');
    expect(await send(body, unwatched)).toBe(200);
    expect(await send(body, watched)).toBe(200);
    await eventually(() => expect(shown(watched)).toHaveLength(1));
    expect(shown(unwatched)).toEqual([]);
  });

  it('has each fact with the name that it came from, what became of the call, and why the others are none', async () => {
    ingest.clock.now = RECEIVED_MS;
    const key = watchedKey();
    const body = recorded('openai-agents-0.24.0-openinference-2.6.0.pb');
    await send(body, key);
    await eventually(() => expect(shown(key)).toHaveLength(1));
    const [report] = shown(key);
    const { length: records } = await recordsOf(body);
    expect(report).toMatchObject({ keyId: key.keyId, path: '/v1/traces', receivedMs: RECEIVED_MS, records, calls: 1 });
    const [call] = report!.firstCalls;
    expect(call).toMatchObject({
      outcome: 'settled',
      agentId: 'Research-Agent',
      amountMicros: 5170,
      pricedBy: 'table',
    });
    expect(call!.facts).toEqual(
      expect.arrayContaining([
        { fact: 'response_model', name: 'llm.model_name', value: 'gpt-4o-2026-08-06' },
        { fact: 'input_tokens', name: 'llm.token_count.prompt', value: '1200' },
        { fact: 'cache_read_tokens', name: 'llm.token_count.prompt_details.cache_read', value: '1024' },
        { fact: 'agent', name: 'agent.name of a span around it', value: 'Research Agent' },
        { fact: 'service', name: 'resource service.name', value: 'support-bot' },
      ]),
    );
    expect(report!.notCalls.reduce((sum, { records: of }) => sum + of, 0)).toBe(records - 1);
    expect(report!.notCalls.map(({ reason }) => reason)).toContain(
      'openinference.span.kind is that of a step around calls',
    );
  });

  it('says the cost as the sender wrote it, also where it is in a callback', async () => {
    ingest.clock.now = RECEIVED_MS;
    const key = watchedKey();
    await send(recorded('litellm-1.106.2-generic-single.json'), key);
    await eventually(() => expect(shown(key)).toHaveLength(1));
    const { facts, ...call } = shown(key)[0]!.firstCalls[0]!;
    expect(call).toEqual({ outcome: 'settled', agentId: 'research-agent', amountMicros: 5170, pricedBy: 'sender' });
    expect(facts).toContainEqual({ fact: 'cost', name: '$.response_cost', value: '0.00517' });
  });

  it('has the agent of the header of the request, if there is one', async () => {
    ingest.clock.now = RECEIVED_MS;
    const key = watchedKey();
    const { file, path, headers } = recorded('openai-agents-0.24.0-openinference-2.6.0.pb');
    await post(path, bodyOf(file), key, headers['content-type'], { 'x-tollkeeper-agent': 'Other agent' });
    await eventually(() => expect(shown(key)).toHaveLength(1));
    const { agentId, facts } = shown(key)[0]!.firstCalls[0]!;
    expect(agentId).toBe('Other-agent');
    expect(facts.filter(({ fact }) => fact === 'agent')).toEqual([
      { fact: 'agent', name: 'header X-Tollkeeper-Agent', value: 'Other agent' },
    ]);
  });

  it('says of a body without calls why, and of a refused one what is wrong with it', async () => {
    const key = watchedKey();
    await send(recorded('litellm-1.106.2-otel-default.pb'), key);
    expect(await post('/v1/logs', '{"resourceLogs": [', key)).toBe(400);
    expect(await post('/v1/metrics', '{}', key)).toBe(200);
    await eventually(() => expect(shown(key)).toHaveLength(3));
    const of = (path: string) => shown(key).find((report) => report.path === path)!;
    expect(of('/v1/traces')).toMatchObject({ calls: 0, firstCalls: [], refusal: '' });
    expect(
      of('/v1/traces')
        .notCalls.map(({ reason }) => reason)
        .toSorted(),
    ).toEqual(['no attribute says that it is a call', 'openinference.span.kind is that of a step around calls']);
    expect(of('/v1/logs').refusal).toMatch(/^The body .* It must be an ExportLogsServiceRequest in OTLP\/JSON\.$/);
    expect(of('/v1/metrics').notCalls.map(({ reason }) => reason)).toEqual([
      'metrics are sums without the ids of calls, and count nothing',
    ]);
  });

  it('is shown of every recorded body, and has no prompt', async () => {
    ingest.clock.now = RECEIVED_MS;
    const keys = new Map(RECORDED.map((body) => [body.file, watchedKey()]));
    for (const body of RECORDED) expect([body.file, await send(body, keys.get(body.file)!)]).toEqual([body.file, 200]);
    await eventually(() => {
      const counts = [...keys].map(([file, key]) => [file, shown(key).length]);
      expect(counts).toEqual(RECORDED.map(({ file }) => [file, 1]));
    });
    expect(JSON.stringify(ingest.keys.reports)).not.toContain('PROMPTTEXT');
  });

  it('is short, however long its values are', async () => {
    const key = watchedKey();
    // The 127th character is the first half of one.
    const value = { stringValue: `${'ä'.repeat(126)}${'\u{1f600}'.repeat(900)}` };
    const attributes = ['gen_ai.operation.name', 'gen_ai.agent.name', 'gen_ai.conversation.id', 'user.id'].map(
      (name) => ({
        key: name,
        value: name === 'gen_ai.operation.name' ? { stringValue: 'chat' } : value,
      }),
    );
    await post('/v1/traces', JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] }), key);
    await eventually(() => expect(shown(key)).toHaveLength(1));
    const { facts } = shown(key)[0]!.firstCalls[0]!;
    expect(facts.map(({ value: text }) => text.length)).toEqual([128, 128, 128]);
  });

  it('neither delays nor fails a report while keys is down', async () => {
    ingest.clock.now = RECEIVED_MS;
    const key = watchedKey();
    const body = recorded('codex-0.169.0-logs.json');
    // The key and the labels of the agent are known from then on.
    expect(await send(body, key)).toBe(200);
    await eventually(() => expect(shown(key)).toHaveLength(1));
    await ingest.keys.stop();
    try {
      expect(await send(body, key)).toBe(200);
      expect(ingest.logs.lines().filter(({ msg }) => msg === 'a report could not be shown')).toEqual([]);
      await eventually(() =>
        expect(ingest.logs.lines().map(({ msg }) => msg)).toContain('a report could not be shown'),
      );
    } finally {
      await ingest.keys.start();
    }
  });

  it('is shown of 20 reports at once and then of 2 a second, of each workspace', async () => {
    const [busy, quiet] = [watchedKey(), watchedKey()];
    const reports = async (count: number, key: Issued) => {
      for (let index = 0; index < count; index += 1) await post('/v1/traces', '{}', key);
    };
    await reports(25, busy);
    await reports(1, quiet);
    await eventually(() => expect(shown(quiet)).toHaveLength(1));
    expect(shown(busy)).toHaveLength(20);
    ingest.clock.now += 1_000;
    await reports(5, busy);
    await eventually(() => expect(shown(busy)).toHaveLength(22));
  });
});
