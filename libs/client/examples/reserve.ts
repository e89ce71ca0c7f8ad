// Reserves, calls, and settles: TOLLKEEPER_URL=http://localhost:8080 TOLLKEEPER_KEY=ws_live_… node examples/reserve.ts
import { createTollkeeper } from '@tollkeeper/client';

const { TOLLKEEPER_URL: url = 'http://localhost:8080', TOLLKEEPER_KEY: key = '' } = process.env;
const tollkeeper = createTollkeeper({ url, key });

/** Stands for the call of a model, which says how many tokens it took. */
async function callModel(prompt: string) {
  return { text: `An answer to: ${prompt}`, inputTokens: 12, outputTokens: 40 };
}

// At most 2,000 output tokens at 15 micros, and the prompt.
const call = await tollkeeper.reserve({ agentId: 'example-agent', runId: 'example-run', amountMicros: 31_000 });
if (call.allowed) {
  const answer = await callModel('Why is the sky blue?').catch(async (error: unknown) => {
    await call.release();
    throw error;
  });
  const { text, inputTokens, outputTokens } = answer;
  const amountMicros = inputTokens * 3 + outputTokens * 15;
  const settled = await call.settle({ amountMicros, model: 'example-model', inputTokens, outputTokens });
  console.log(text);
  console.log(`It has cost ${settled?.settled_micros} micros.`);
} else {
  console.log(`Denied: ${call.denial.message}`);
  process.exitCode = 3;
}
await tollkeeper.close();
