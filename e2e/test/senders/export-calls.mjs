// Ends spans of two calls, which the exporter sends in one batch.
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

const provider = new TracerProvider({
  spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
});
const tracer = provider.getTracer('senders');
for (let call = 0; call < 2; call += 1) {
  const span = tracer.startSpan('chat gpt-4o');
  span.setAttributes({
    'gen_ai.operation.name': 'chat',
    'gen_ai.agent.name': process.env.OTEL_SERVICE_NAME,
    'gen_ai.provider.name': 'openai',
    'gen_ai.response.model': 'gpt-4o',
    'gen_ai.usage.input_tokens': 1200,
    'gen_ai.usage.cache_read.input_tokens': 1024,
    'gen_ai.usage.output_tokens': 345,
    'gen_ai.usage.reasoning.output_tokens': 128,
    'gen_ai.input.messages': process.env.PROMPT,
    'gen_ai.output.messages': process.env.ANSWER,
  });
  span.end();
}
await provider.forceFlush();
await provider.shutdown();
