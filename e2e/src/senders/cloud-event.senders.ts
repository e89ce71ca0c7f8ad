import { EVENTS_PATH } from '../workspace.ts';
import { type CallShape, expectedMicros, type GeneratedCall } from './generated.call.ts';
import type { Sender } from './sender.ts';

const SHAPE: CallShape = {
  provider: 'openai',
  reports: { cacheRead: true, cacheWrite: false, reasoning: true },
  hasCost: true,
  cachedBeside: false,
};
const BATCH = 500;

/** Gateways that price calls themselves and report them as events, in the three ways of CloudEvents over HTTP. */
export function cloudEventSenders(): Sender[] {
  const json = (type: string) => ({ 'content-type': `application/${type}+json` });
  return [
    senderOf('cloud-events-batches', BATCH, (calls) => ({
      headers: json('cloudevents-batch'),
      content: calls.map((call) => ({ ...attributesOf(call), data: dataOf(call) })),
    })),
    senderOf('cloud-events-structured', 1, ([call]) => ({
      headers: json('cloudevents'),
      content: { ...attributesOf(call!), data: dataOf(call!) },
    })),
    senderOf('cloud-events-binary', 1, ([call]) => ({
      headers: {
        'content-type': 'application/json',
        ...Object.fromEntries(Object.entries(attributesOf(call!)).map(([name, value]) => [`ce-${name}`, value])),
      },
      content: dataOf(call!),
    })),
  ];
}

function senderOf(
  name: string,
  maxBatch: number,
  write: (calls: readonly GeneratedCall[]) => { headers: Record<string, string>; content: unknown },
): Sender {
  return {
    ...{ name, maxBatch, protocol: 'cloudevents' },
    shapeOf: () => SHAPE,
    modelOf: (_index, { model }) => model,
    body(apiKey, batch) {
      const { headers, content } = write(batch.map(({ call }) => call));
      const bytes = Buffer.from(JSON.stringify(content));
      return { path: EVENTS_PATH, headers: { ...headers, authorization: `Bearer ${apiKey}` }, bytes };
    },
  };
}

function attributesOf({ serial, timeMs }: GeneratedCall) {
  const time = new Date(timeMs).toISOString();
  return { specversion: '1.0', id: `event-${serial}`, source: '/gateways/e2e', type: 'spend.settled', time };
}

function dataOf(call: GeneratedCall) {
  const { serial, runId, agentId, model, tokens } = call;
  const { input, cacheRead, output, reasoning } = tokens;
  const micros = expectedMicros(call);
  return {
    ...{ settlement_id: `stl-${serial}`, run_id: runId, agent_id: agentId, model },
    amount_micros: Number(micros ?? 0n),
    ...(micros === undefined && { priced_by: 'none' }),
    tokens: { input, cache_read: cacheRead, output, reasoning },
  };
}
