import { randomBytes, randomUUID } from 'node:crypto';
import { type Attack, inTurns, type Sender, statusOf } from './attack.ts';

const BYTES = 5_000_000;
const CALLS = 10_000;

/** Bodies of OTLP that are as dear as their bytes allow. */
export const TELEMETRY_ATTACKS: readonly Attack[] = [
  {
    name: '24 bodies of OTLP, 5 MB of empty spans, one attribute of 5 MB, or 10,000 calls, 8 at a time',
    strike: (sender) => {
      const bodies = [() => EMPTY_SPANS, () => LARGE_ATTRIBUTE, manyCalls];
      return inTurns(24, 8, (index) => exportTraces(sender, bodies[index % bodies.length]!()));
    },
  },
];

const exportTraces = ({ target, workspace }: Sender, body: string) =>
  statusOf(
    fetch(`${target.baseUrl}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.apiKey}`, 'content-type': 'application/json' },
      body,
    }),
  );

const tracesOf = (spans: string) => `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`;
const attribute = (key: string, value: object) => ({ key, value });

const EMPTY_SPANS = tracesOf(`${'{},'.repeat(BYTES / 3)}{}`);
const LARGE_ATTRIBUTE = tracesOf(
  JSON.stringify({ attributes: [attribute('gen_ai.agent.name', { stringValue: 'x'.repeat(BYTES) })] }),
);

function manyCalls(): string {
  const call = () => ({
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: [
      attribute('gen_ai.operation.name', { stringValue: 'chat' }),
      attribute('gen_ai.response.id', { stringValue: `chatcmpl-${randomUUID()}` }),
      attribute('gen_ai.response.model', { stringValue: 'gpt-4o' }),
      attribute('gen_ai.usage.input_tokens', { intValue: 100 }),
      attribute('gen_ai.usage.cost', { doubleValue: 0.000_001 }),
    ],
  });
  return tracesOf(Array.from({ length: CALLS }, () => JSON.stringify(call())).join(','));
}
