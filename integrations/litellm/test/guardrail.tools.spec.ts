import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type LitellmProxy, startLitellm } from './litellm.proxy.ts';
import { COST, newAgent, type OpenAiError, settled } from './litellm.stage.ts';
import { PROMPTS, startUpstream, type Upstream } from './openai.upstream.ts';
import { startTollkeeper, type Tollkeeper } from './tollkeeper.ts';

/** What is reserved for a call of 50 tokens at most: its answer, and a token of input for two bytes. */
const [OUTPUT, LEAST, MOST] = [500, 505, 560];

let upstream: Upstream;
let tollkeeper: Tollkeeper;
let closed: LitellmProxy;
let open: LitellmProxy;
const stops: (() => Promise<void>)[] = [];

/** LiteLLM's own settings, as in the example, without a file of ours. */
function bySettings(unreachableFallback: 'fail_closed' | 'fail_open'): object {
  const key = 'os.environ/TOLLKEEPER_KEY';
  const upstreamModel = (model: string) => ({
    model_name: model,
    litellm_params: { model: `openai/${model}`, api_base: `${upstream.url}/v1`, api_key: 'none' },
  });
  return {
    model_list: [upstreamModel('gpt-4o')],
    litellm_settings: { callbacks: ['tollkeeper'], telemetry: false },
    callback_settings: {
      tollkeeper: {
        ...{ callback_type: 'generic_api', endpoint: `${tollkeeper.url}/api/v1/intake/litellm` },
        ...{ headers: { 'x-api-key': key }, event_types: ['llm_api_success', 'llm_api_failure'] },
        ...{ log_format: 'ndjson', max_retries: 8, retry_delay: 1 },
      },
    },
    guardrails: [
      {
        guardrail_name: 'tollkeeper',
        litellm_params: {
          ...{ guardrail: 'generic_guardrail_api', mode: 'pre_call', default_on: true, api_key: key, timeout: 5 },
          ...{ api_base: `${tollkeeper.url}/api/v1/adapters/litellm`, unreachable_fallback: unreachableFallback },
          additional_provider_specific_params: { max_output_tokens: 50 },
        },
      },
    ],
    router_settings: { num_retries: 0 },
  };
}

beforeAll(async () => {
  upstream = await startUpstream();
  stops.push(upstream.stop);
  tollkeeper = await startTollkeeper();
  stops.push(tollkeeper.remove);
  const env = { TOLLKEEPER_KEY: tollkeeper.key, DEFAULT_FLUSH_INTERVAL_SECONDS: '1' };
  const start = async (fallback: 'fail_closed' | 'fail_open') => {
    const proxy = await startLitellm({ upstreamUrl: upstream.url, env, settings: bySettings(fallback) });
    stops.push(proxy.stop);
    return proxy;
  };
  closed = await start('fail_closed');
  open = await start('fail_open');
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

interface CallOptions {
  proxy?: LitellmProxy;
  prompt?: string;
  body?: object;
  headers?: Record<string, string>;
}

function call(agent: string, { proxy = closed, prompt = 'hello', body, headers }: CallOptions = {}): Promise<Response> {
  const messages = [{ role: 'user', content: prompt }];
  return fetch(`${proxy.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${agent}`, ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages, ...body }),
  });
}

/** Calls again while Tollkeeper gives no decision in time, as clients do after a 500. */
const decided = (agent: string, options?: CallOptions) =>
  eventually(async () => {
    const response = await call(agent, options);
    const isUndecided = response.status === 500 && (await response.clone().text()).includes('Guardrail API failed');
    if (isUndecided) throw new Error('Tollkeeper gave no decision.');
    return response;
  });

const endOf = (agent: string) =>
  eventually(async () => {
    const reservations = await tollkeeper.reservationsOf(agent);
    expect(reservations.map(({ state }) => state)).not.toContain('held');
    return reservations;
  });

describe('LiteLLM, stopped by its settings alone', () => {
  it.each([false, true])(
    'reserves before a call, and settles by the report of the call (streamed: %s)',
    async (stream) => {
      const agent = newAgent();
      const response = await decided(agent, { body: { stream } });
      expect(response.status).toBe(200);
      expect(await response.text()).toContain('one two three');
      const [reservation, ...others] = await endOf(agent);
      expect(others).toEqual([]);
      expect(reservation).toMatchObject({ model: 'gpt-4o', ...settled(COST) });
      expect(reservation!.amount_micros).toBeGreaterThan(LEAST);
      expect(reservation!.amount_micros).toBeLessThan(MOST);
      expect(await eventually(() => tollkeeper.settlementsOf(agent))).toMatchObject([{ amount_micros: COST }]);
    },
  );

  it('denies a call over its budget with the sentence of the limit, and no model is called', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, OUTPUT);
    const response = await decided(agent, { prompt: `hello from ${agent}` });
    const { error } = (await response.json()) as OpenAiError;
    expect([response.status, error.message]).toEqual([
      400,
      expect.stringMatching(new RegExp(`Agent ${agent} has spent .* of its daily budget of \\$0.0005`, 'i')),
    ]);
    expect(upstream.prompts.join()).not.toContain(agent);
    await eventually(async () => expect(await tollkeeper.blockedOf(agent)).toHaveLength(1));
  });

  it('holds a budget among many calls at a time', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 3 * MOST);
    const statuses = await Promise.all(Array.from({ length: 32 }, async () => (await decided(agent)).status));
    const allowed = statuses.filter((status) => status === 200).length;
    expect(new Set(statuses)).toEqual(new Set([200, 400]));
    // LiteLLM loses reports of calls that end while it sends a batch, here that of the denied calls. And it makes no
    // call whose answer comes too late. Both stay held until they expire.
    const reservations = await eventually(async () => {
      const all = await tollkeeper.reservationsOf(agent);
      expect(all.length).toBeGreaterThanOrEqual(Math.max(3, allowed));
      return all;
    });
    expect(reservations.filter(({ state }) => !['held', 'settled'].includes(state))).toEqual([]);
    const { spent_micros: spent, held_micros: held, overspend_micros: over } = await tollkeeper.limitOf(agent);
    expect(spent % COST).toBe(0);
    expect(over).toEqual({ above_hold: 0, late: 0, unreserved: 0 });
    expect(spent + held).toBeLessThanOrEqual(3 * MOST);
  });

  it('releases the reservation of a call whose model failed', async () => {
    const agent = newAgent();
    expect((await decided(agent, { prompt: PROMPTS.fail })).status).toBe(500);
    expect(await endOf(agent)).toMatchObject([{ state: 'released', settled_micros: null }]);
  });

  it('makes no second call under the id of a call that was settled', async () => {
    const agent = newAgent();
    const headers = { 'x-litellm-call-id': agent };
    expect((await decided(agent, { headers })).status).toBe(200);
    await endOf(agent);
    const again = await decided(agent, { headers });
    expect([again.status, ((await again.json()) as OpenAiError).error.message]).toEqual([
      400,
      expect.stringContaining('use a new id'),
    ]);
  });

  it('denies or allows calls while Tollkeeper is down, as its settings say, and reports those that were made', async () => {
    const agent = newAgent();
    await tollkeeper.end('SIGKILL');
    expect((await call(agent)).status).toBe(500);
    expect((await call(agent, { proxy: open })).status).toBe(200);
    await tollkeeper.start();
    await eventually(async () => {
      expect(await tollkeeper.settlementsOf(agent)).toMatchObject([{ amount_micros: COST }]);
    });
    expect(await tollkeeper.reservationsOf(agent)).toEqual([]);
  });
});
