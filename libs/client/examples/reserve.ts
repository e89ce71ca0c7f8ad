// Reserves, calls, and settles: TOLLKEEPER_URL=http://localhost:8080 TOLLKEEPER_KEY=ws_live_… node examples/reserve.ts
import { setTimeout as delay } from 'node:timers/promises';
import { createTollkeeper, TollkeeperError, TollkeeperUnavailable } from '@tollkeeper/client';
import type { AllowedCall, SettleOptions } from '@tollkeeper/client';

const { TOLLKEEPER_URL: url = 'http://localhost:8080', TOLLKEEPER_KEY: key = '' } = process.env;
const tollkeeper = createTollkeeper({ url, key });

/** Stands in for a model call, which returns the number of tokens. */
async function callModel(prompt: string) {
  return { text: `An answer to: ${prompt}`, inputTokens: 12, outputTokens: 40 };
}

/** Settles with the same arguments until it succeeds, since nothing else does so later. Rejects if it is refused. */
async function settleInTheEnd(call: AllowedCall, settlement: SettleOptions) {
  for (;;) {
    try {
      return await call.settle(settlement);
    } catch (error) {
      if (!(error instanceof TollkeeperError)) throw error;
      if (!(error instanceof TollkeeperUnavailable) && error.status !== 429) throw error;
      console.error(error.message);
      await delay(Math.max(error.retryAfterMs ?? 0, 1_000));
    }
  }
}

const call = await tollkeeper.reserve({
  agentId: 'example-agent',
  runId: 'example-run',
  // At most 2,000 output tokens at 15 micros, and the prompt.
  amountMicros: 31_000,
  model: 'example-model',
  labels: { team: 'growth' },
});
if (call.allowed) {
  const answer = await callModel('Why is the sky blue?').catch(async (error: unknown) => {
    await call.release();
    throw error;
  });
  const { text, inputTokens, outputTokens } = answer;
  const amountMicros = inputTokens * 3 + outputTokens * 15;
  const settling = settleInTheEnd(call, { amountMicros, inputTokens, outputTokens });
  // The user gets the answer now, even while Tollkeeper is unavailable.
  console.log(text);
  const settled = await settling;
  console.log(`It has cost ${settled?.settled_micros} micros.`);
} else {
  console.log(`Denied: ${call.denial.message}`);
  process.exitCode = 3;
}
await tollkeeper.close();
