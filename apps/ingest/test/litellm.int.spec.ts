import { describe, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useIngest } from './ingest.stack.ts';
import { sendReport } from './report.sender.ts';
import { bodyOf, RECEIVED_MS } from './senders.ts';

/** LiteLLM's defaults: a batch has 512 calls. */
const BATCH_CALLS = 512;
/** How often a proxy of 100 calls a second sends one. */
const BATCH_MS = 5_120;

const LITELLM = '/api/v1/intake/litellm';
const SINGLE = bodyOf('litellm-1.106.2-generic-single.json').toString();

const mongo = useMongo();
const ingest = useIngest(mongo);
// The usual rate, after the least that a workspace may have saved up.
const steady = useIngest(mongo, undefined, { WORKSPACE_BURST_BYTES: String(5 * 1024 * 1024) });

const keyed = (apiKey: string) => ({ 'x-api-key': apiKey, 'content-type': 'application/json' });

it('a proxy of 100 calls a second is not refused for its bytes', async () => {
  const { keys, clock, url } = steady;
  clock.now = RECEIVED_MS;
  const batch = `${SINGLE.trim()}\n`.repeat(BATCH_CALLS);
  // All of it would be over the quota from the fourth batch on.
  expect(batch.length).toBeGreaterThan(BATCH_CALLS * 12_000);
  const headers = keyed(keys.issue().apiKey);
  const send = async (): Promise<[number, string]> => {
    const { status, bytes } = await sendReport(url() + LITELLM, batch, headers);
    return [status, bytes.toString()];
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

describe("what LiteLLM's callback sends", () => {
  it('may have 128 MiB with an object a line, of which those that cannot be read are errors at their place', async () => {
    const { apiKey, tenantId } = ingest.keys.issue();
    const prompt = 'x'.repeat(1024 * 1024);
    const line = (index: number) =>
      JSON.stringify({ id: `call-${index}`, litellm_call_id: `call-${index}`, response_cost: 0.5, messages: prompt });
    const lines = Array.from({ length: 100 }, (_none, index) => (index % 30 === 17 ? '{"id":' : line(index)));
    const answer = await sendReport(ingest.url() + LITELLM, lines.join('\n'), keyed(apiKey));
    expect([answer.status, answer.body]).toMatchObject([200, { accepted: 97, dropped: 3 }]);
    expect((answer.body?.['errors'] as { index: number }[]).map(({ index }) => index)).toEqual([17, 47, 77]);
    ingest.expectDocumented(LITELLM, answer.status, answer.body);
    const ids = () => ingest.logged(tenantId).map(({ event }) => event.id);
    await eventually(() => expect(ids()).toHaveLength(97));
    expect(ids()).toEqual(lines.flatMap((each, index) => (each === '{"id":' ? [] : `call:call-${index}`)));
    const over = await sendReport(
      ingest.url() + LITELLM,
      `${line(0)}\n`.repeat(128),
      keyed(ingest.keys.issue().apiKey),
    );
    expect([over.status, over.body?.['error']]).toEqual([413, expect.stringContaining('DEFAULT_BATCH_SIZE')]);
  });

  it('may have 32 MiB in a list, and is refused with 413 over that', async () => {
    const sized = (mib: number) => `[${SINGLE},{"messages":"${'x'.repeat(mib * 1024 * 1024)}"}]`;
    // Each uses up the quota of its workspace.
    const post = (mib: number) => sendReport(ingest.url() + LITELLM, sized(mib), keyed(ingest.keys.issue().apiKey));
    const answer = await post(31);
    // The large object is over the limit of one.
    expect([answer.status, answer.body]).toEqual([200, expect.objectContaining({ accepted: 1, dropped: 1 })]);
    const over = await post(32);
    expect([over.status, over.body?.['error']]).toEqual([413, expect.stringContaining('larger than 32 MiB. ')]);
    expect(over.body?.['error']).toMatch(/DEFAULT_BATCH_SIZE.*turn_off_message_logging/);
  });

  it('has the first 20 objects that cannot be read in the answer, and the number of all', async () => {
    const { apiKey } = ingest.keys.issue();
    const { body } = await sendReport(ingest.url() + LITELLM, `[${Array(25).fill('5').join()}]`, keyed(apiKey));
    expect(body).toMatchObject({ accepted: 0, dropped: 25 });
    expect(body?.['errors']).toHaveLength(20);
  });
});
