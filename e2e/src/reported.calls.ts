import { randomBytes, randomUUID } from 'node:crypto';
import { eventually } from '@tollkeeper/testing';
import type { Target } from './target.ts';

export interface ReportedCall {
  model: string;
  inputTokens: number;
  outputTokens?: number;
}

/** Reports a call by OTLP with tokens and no cost, as often as it takes: it counts once. */
export async function reportCall(target: Target, apiKey: string, call: ReportedCall): Promise<void> {
  const body = JSON.stringify(tracesOf(call));
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  await eventually(async () => {
    const { status } = await fetch(`${target.baseUrl}/v1/traces`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`the call was not accepted: ${status}`);
  });
}

function tracesOf({ model, inputTokens, outputTokens = 0 }: ReportedCall) {
  const attribute = (key: string, value: object) => ({ key, value });
  const span = {
    traceId: randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    endTimeUnixNano: `${Date.now()}000000`,
    attributes: [
      attribute('gen_ai.operation.name', { stringValue: 'chat' }),
      attribute('gen_ai.response.id', { stringValue: `chatcmpl-${randomUUID()}` }),
      attribute('gen_ai.response.model', { stringValue: model }),
      attribute('gen_ai.agent.name', { stringValue: 'agent-1' }),
      attribute('gen_ai.usage.input_tokens', { intValue: String(inputTokens) }),
      attribute('gen_ai.usage.output_tokens', { intValue: String(outputTokens) }),
    ],
  };
  return { resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] };
}
