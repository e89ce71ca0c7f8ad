import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type LitellmProxy, startLitellm } from './litellm.proxy.ts';
import { COST, HELD, newAgent, type OpenAiError, streaming } from './litellm.stage.ts';
import { PROMPTS, startUpstream, type Upstream, USAGE } from './openai.upstream.ts';
import { startTollkeeper, type Tollkeeper } from './tollkeeper.ts';

const AT_A_TIME = 64;
/** Room for one call, and not for two. */
const ONE_CALL = HELD + 200;

let upstream: Upstream;
let tollkeeper: Tollkeeper;
let leasing: LitellmProxy;
const stops: (() => Promise<void>)[] = [];

async function startLeasing(ttlSeconds: number): Promise<LitellmProxy> {
  const env = {
    ...{ TOLLKEEPER_URL: tollkeeper.url, TOLLKEEPER_KEY: tollkeeper.key },
    // On a machine that runs other suites as well, a decision may take longer than the default.
    TOLLKEEPER_TIMEOUT_SECONDS: '20',
    TOLLKEEPER_LEASE_TTL_SECONDS: String(ttlSeconds),
  };
  const proxy = await startLitellm({ upstreamUrl: upstream.url, env });
  stops.push(proxy.stop);
  // LiteLLM loads much of its code at its first call, which takes longer than a decision may.
  await eventually(async () => expect((await call(newAgent(), { proxy })).status).toBe(200));
  return proxy;
}

beforeAll(async () => {
  upstream = await startUpstream();
  stops.push(upstream.stop);
  tollkeeper = await startTollkeeper();
  stops.push(tollkeeper.remove);
  leasing = await startLeasing(60);
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

interface CallOptions {
  proxy?: LitellmProxy;
  prompt?: string;
  body?: object;
  signal?: AbortSignal;
}

function call(agent: string, { proxy = leasing, prompt = 'hello', body, signal }: CallOptions = {}): Promise<Response> {
  return fetch(`${proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${agent}` },
    body: JSON.stringify({ model: 'chat', max_tokens: 50, messages: [{ role: 'user', content: prompt }], ...body }),
    signal: signal ?? null,
  });
}

const spentOf = async (agent: string) => (await tollkeeper.limitOf(agent)).spent_micros;
const promptsOf = (agent: string) => upstream.prompts.filter((prompt) => prompt.includes(agent)).length;
const NO_OVERSPEND = { above_hold: 0, late: 0, unreserved: 0 };

describe('with leases', () => {
  it('calls are allowed from one lease without a reservation, and settled at their cost', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1_000_000);
    for (const run_id of ['run-1', 'run-2', 'run-3']) {
      expect((await call(agent, { body: { metadata: { run_id } } })).status).toBe(200);
    }
    await eventually(async () =>
      expect(await tollkeeper.limitOf(agent)).toMatchObject({ spent_micros: 3 * COST, overspend_micros: NO_OVERSPEND }),
    );
    expect(await tollkeeper.reservationsOf(agent)).toEqual([]);
    expect(await tollkeeper.leasesOf(agent)).toMatchObject([{ state: 'open', settled_micros: 3 * COST }]);
    const settlements = await eventually(async () => {
      const found = await tollkeeper.settlementsOf(agent);
      expect(found).toHaveLength(3);
      return found;
    });
    expect(settlements.map(({ run_id }) => run_id).sort()).toEqual(['run-1', 'run-2', 'run-3']);
    const { prompt_tokens: input_tokens, completion_tokens: output_tokens } = USAGE;
    const one = { amount_micros: COST, model: 'gpt-4o', provider: 'openai', input_tokens, output_tokens };
    expect(settlements).toMatchObject([one, one, one]);
  });

  it('calls are denied within the budget, with an error in the shape of OpenAI', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 4_000);
    const answers: Response[] = [];
    do answers.push(await call(agent, { prompt: `of ${agent}` }));
    while (answers.at(-1)?.status === 200 && answers.length < 40);
    const denied = answers.at(-1) as Response;
    expect(denied.status).toBe(429);
    const { error } = (await denied.json()) as OpenAiError;
    expect(error).toMatchObject({ type: 'budget_exceeded', code: '429' });
    expect(error.message).toContain(agent);
    expect(denied.headers.get('x-should-retry')).toBe('false');
    expect(promptsOf(agent)).toBe(answers.length - 1);
    await eventually(async () => expect(await spentOf(agent)).toBe((answers.length - 1) * COST));
    const { spent_micros, held_micros } = await tollkeeper.limitOf(agent);
    expect(spent_micros + held_micros).toBeLessThanOrEqual(4_000);
    await eventually(async () =>
      expect(await tollkeeper.blockedOf(agent)).toEqual([expect.objectContaining({ scope: 'agent' })]),
    );
  });

  it('streams are settled at their cost', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1_000_000);
    expect(await (await call(agent, streaming())).text()).toContain('[DONE]');
    await eventually(async () => expect(await spentOf(agent)).toBe(COST));
  });

  it('a stream whose client goes away is settled for what was streamed', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1_000_000);
    const client = new AbortController();
    const response = await call(agent, { ...streaming(PROMPTS.wait), signal: client.signal });
    await response.body?.getReader().read();
    client.abort();
    await eventually(async () => expect(await spentOf(agent)).toBeGreaterThan(0));
    expect(await spentOf(agent)).toBeLessThan(COST);
  });

  it('a call whose client goes away before the provider says anything leaves its room to the next one', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, ONE_CALL);
    const client = new AbortController();
    const response = call(agent, { ...streaming(`${PROMPTS.silent} ${agent}`), signal: client.signal });
    await eventually(() => expect(promptsOf(agent)).toBe(1));
    expect((await call(agent)).status).toBe(429);
    client.abort();
    await expect(response).rejects.toThrow('abort');
    await eventually(async () => expect((await call(agent)).status).toBe(200));
    await eventually(async () => expect(await spentOf(agent)).toBe(COST));
  });

  it('a call whose provider fails leaves its room to the next one', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, ONE_CALL);
    expect((await call(agent, { prompt: PROMPTS.fail })).status).toBe(500);
    await eventually(async () => expect((await call(agent)).status).toBe(200));
    await eventually(async () => expect(await spentOf(agent)).toBe(COST));
  });

  // LiteLLM copies a request to fall back to another model.
  it('a call that falls back to another model is settled once, and its lease has room for further ones', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1_000_000);
    for (let spent = 1; spent <= 2; spent += 1) {
      const response = await call(agent, { body: { model: 'falling' } });
      expect(await response.text()).toContain('one two three');
      await eventually(async () => expect((await tollkeeper.settlementsOf(agent)).length).toBe(spent));
    }
    expect(await tollkeeper.leasesOf(agent)).toHaveLength(1);
  });

  it('calls go on from their lease while Tollkeeper is unavailable, and without one are denied with 503', async () => {
    const [known, unknown] = [newAgent(), newAgent()];
    await tollkeeper.setBudget(known, 1_000_000);
    expect((await call(known)).status).toBe(200);
    await tollkeeper.halt();
    try {
      expect((await call(known)).status).toBe(200);
      expect((await call(unknown)).status).toBe(503);
    } finally {
      tollkeeper.goOn();
    }
    await eventually(async () =>
      expect(await tollkeeper.limitOf(known)).toMatchObject({ spent_micros: 2 * COST, overspend_micros: NO_OVERSPEND }),
    );
  });

  it('a proxy that is killed holds nothing after the time of its leases', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1_000_000);
    const killed = await startLeasing(10);
    expect((await call(agent, { proxy: killed })).status).toBe(200);
    await call(agent, { proxy: killed, ...streaming(PROMPTS.wait) });
    await eventually(async () => expect(await spentOf(agent)).toBe(COST));
    const [lease] = await tollkeeper.leasesOf(agent);
    expect(lease).toMatchObject({ state: 'open' });
    expect((await tollkeeper.limitOf(agent)).held_micros).toBeGreaterThan(0);
    await killed.end('SIGKILL');
    await eventually(async () =>
      expect(await tollkeeper.limitOf(agent)).toMatchObject({ spent_micros: COST, held_micros: 0 }),
    );
    expect(await tollkeeper.leasesOf(agent)).toMatchObject([{ id: lease?.id, state: 'expired' }]);
  });

  it('calls of 64 clients at a time cost exactly what is counted, also when Tollkeeper restarts meanwhile', async () => {
    const agent = newAgent();
    const budget = 120 * COST;
    await tollkeeper.setBudget(agent, budget);
    const restarted = Promise.withResolvers<void>();
    let allowed = 0;
    /** The type of the error with which its calls end. */
    const client = async (): Promise<string> => {
      for (;;) {
        const response = await call(agent);
        const text = await response.text();
        if (response.status === 200) allowed += 1;
        else if (response.status === 503) await restarted.promise;
        else return response.status === 429 ? (JSON.parse(text) as OpenAiError).error.type : text;
      }
    };
    const clients = Promise.all(Array.from({ length: AT_A_TIME }, client));
    await eventually(() => expect(allowed).toBeGreaterThan(AT_A_TIME));
    await tollkeeper.end('SIGKILL');
    await tollkeeper.start();
    restarted.resolve();
    expect(new Set(await clients)).toEqual(new Set(['budget_exceeded']));
    await eventually(async () =>
      expect(await tollkeeper.limitOf(agent)).toMatchObject({
        ...{ spent_micros: allowed * COST, overspend_micros: NO_OVERSPEND },
      }),
    );
    expect(allowed * COST).toBeLessThanOrEqual(budget);
    // A lease whose answer came too late ends with its time.
    await eventually(async () => expect((await tollkeeper.limitOf(agent)).held_micros).toBe(0));
    expect(await spentOf(agent)).toBe(allowed * COST);
  });

  it('a proxy that stops has settled its calls and returned its leases', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1_000_000);
    expect((await call(agent)).status).toBe(200);
    await eventually(async () => expect(await tollkeeper.settlementsOf(agent)).toHaveLength(1));
    await leasing.end('SIGTERM');
    expect(await tollkeeper.leasesOf(agent)).toMatchObject([{ state: 'returned', settled_micros: COST }]);
    expect(await tollkeeper.limitOf(agent)).toMatchObject({ spent_micros: COST, held_micros: 0 });
  });
});
