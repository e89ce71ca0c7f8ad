import type { SpendSettledEvent } from '@tollkeeper/contracts';

/** A call as a span of OTLP/JSON. */
export type SampleSpan = ReturnType<typeof spanOf>;

/**
 * The span by which an agent's program reports a call: its tokens, and no cost. `reservationId` is the reservation that
 * the call settles.
 */
export function spanOf({ time, data }: SpendSettledEvent, reservationId: string) {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': data.provider,
    'gen_ai.request.model': data.model,
    'gen_ai.response.model': data.model,
    'gen_ai.usage.input_tokens': data.input_tokens,
    'gen_ai.usage.output_tokens': data.output_tokens,
    'gen_ai.agent.name': data.agent_id,
    'gen_ai.conversation.id': data.run_id,
    'tollkeeper.plan': data.plan_key,
    'tollkeeper.settlement_id': data.settlement_id,
    'tollkeeper.reservation_id': reservationId,
  };
  return { name: 'chat', endTimeUnixNano: `${Date.parse(time)}000000`, attributes: attributesOf(attributes) };
}

/** The body of an export to `/v1/traces`. */
export function exportOf(spans: readonly SampleSpan[]): Buffer {
  const resource = { attributes: attributesOf({ 'service.name': 'tollkeeper-sample' }) };
  const scopeSpans = [{ scope: { name: 'tollkeeper-sample' }, spans }];
  return Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }));
}

function attributesOf(values: Record<string, string | number | undefined>) {
  return Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) } }];
  });
}
