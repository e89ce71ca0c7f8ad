import { expect, it } from '@jest/globals';
import { useMongo } from '@tollkeeper/testing';
import { useIngest } from './ingest.stack.ts';
import { bodyOf, RECEIVED_MS } from './senders.ts';

/** LiteLLM's defaults: a batch has 512 calls. */
const BATCH_CALLS = 512;
/** How often a proxy of 100 calls a second sends one. */
const BATCH_MS = 5_120;

// The usual rate, after the least that a workspace may have saved up.
const { keys, clock, url } = useIngest(useMongo(), undefined, { WORKSPACE_BURST_BYTES: String(5 * 1024 * 1024) });

it('a proxy of 100 calls a second is not refused for its bytes', async () => {
  clock.now = RECEIVED_MS;
  const batch = `${bodyOf('litellm-1.106.2-generic-single.json').toString().trim()}\n`.repeat(BATCH_CALLS);
  // All of it would be over the quota from the fourth batch on.
  expect(batch.length).toBeGreaterThan(BATCH_CALLS * 12_000);
  const headers = { 'x-api-key': keys.issue().apiKey, 'content-type': 'application/json' };
  const send = async (): Promise<[number, string]> => {
    const answer = await fetch(`${url()}/api/v1/intake/litellm`, { method: 'POST', headers, body: batch });
    return [answer.status, await answer.text()];
  };
  for (let batches = 0; batches < 5; batches += 1) {
    clock.now += BATCH_MS;
    expect(await send()).toEqual([200, expect.stringContaining(`"accepted":${BATCH_CALLS}`)]);
  }
  // Without pauses, what was saved up is used up.
  const answers = [];
  for (let batches = 0; batches < 10; batches += 1) answers.push(await send());
  expect(answers[0]?.[0]).toBe(200);
  expect(answers.at(-1)).toEqual([503, expect.stringContaining('bytes per second')]);
});
