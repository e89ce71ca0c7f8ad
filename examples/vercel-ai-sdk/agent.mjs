import { openai } from '@ai-sdk/openai';
import { OpenTelemetry } from '@ai-sdk/otel';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { generateText, registerTelemetry } from 'ai';

// Reads OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS.
const sdk = new NodeSDK();
sdk.start();
registerTelemetry(new OpenTelemetry());

const { text } = await generateText({
  model: openai('gpt-4o'),
  prompt: 'Why is the sky blue?',
  // The name of the agent in Tollkeeper.
  telemetry: { functionId: 'vercel-example' },
});
console.log(text);

// Sends the spans that were not sent yet.
await sdk.shutdown();
