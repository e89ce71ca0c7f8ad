import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '@tollkeeper/testing';
import { type LitellmProxy, startLitellm } from './litellm.proxy.ts';
import { type LosingProxy, startLosingProxy } from './losing.proxy.ts';
import { PROMPTS, startUpstream, type Upstream, USAGE } from './openai.upstream.ts';
import { type Reservation, startTollkeeper, type Tollkeeper } from './tollkeeper.ts';

/** What a call with {@link USAGE} costs by the prices of gpt-4o, and what it costs at most with 50 tokens of output. */
const COST = 225;
const HELD = 520;
const DEFAULT_ESTIMATE = 40_000;

interface OpenAiError {
  error: { message: string; type: string; code: string };
}

let upstream: Upstream;
let tollkeeper: Tollkeeper;
/** Denies calls while Tollkeeper is away. */
let denying: LitellmProxy;
/** Lets them through. Its calls have the agent of their key, and reach Tollkeeper through `losing`. */
let allowing: LitellmProxy;
let losing: LosingProxy;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  stops.push(upstream.stop);
  tollkeeper = await startTollkeeper();
  stops.push(tollkeeper.remove);
  losing = await startLosingProxy(tollkeeper.url);
  stops.push(losing.stop);
  const env = { TOLLKEEPER_KEY: tollkeeper.key, TOLLKEEPER_DEFAULT_ESTIMATE_MICROS: String(DEFAULT_ESTIMATE) };
  const start = async (settings: Record<string, string>) => {
    const proxy = await startLitellm({ upstreamUrl: upstream.url, env: { ...env, ...settings } });
    stops.push(proxy.stop);
    return proxy;
  };
  denying = await start({
    TOLLKEEPER_URL: tollkeeper.url,
    TOLLKEEPER_AGENT_FIELD: 'agent_id',
    TOLLKEEPER_LABELS: 'team=team_alias, user=end_user_id, cost.center=cost_center, env',
  });
  allowing = await start({
    TOLLKEEPER_URL: losing.url,
    TOLLKEEPER_ON_UNAVAILABLE: 'allow',
    TOLLKEEPER_LABELS: 'env',
  });
});
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

interface CallOptions {
  proxy?: LitellmProxy;
  path?: string;
  prompt?: string;
  body?: object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A chat completion of 50 tokens at most, unless the options say something else. */
function call(agent: string, { proxy = denying, path = 'chat/completions', prompt, ...rest }: CallOptions = {}) {
  const messages = [{ role: 'user', content: prompt ?? 'hello' }];
  return fetch(`${proxy.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${agent}`, ...rest.headers },
    body: JSON.stringify({ model: 'chat', max_tokens: 50, messages, ...rest.body }),
    signal: rest.signal ?? null,
  });
}

const newAgent = () => `agent-${randomUUID()}`;

/** The only reservation of the agent, once its call has ended. */
function endedReservation(agent: string): Promise<Reservation> {
  return eventually(async () => {
    const reservations = await tollkeeper.reservationsOf(agent);
    expect(reservations).toHaveLength(1);
    expect(reservations[0]?.state).not.toBe('held');
    return reservations[0] as Reservation;
  });
}

const settled = (micros: number) => ({ state: 'settled', settled_micros: micros });
const streaming = (prompt?: string) => ({ body: { stream: true }, ...(prompt !== undefined && { prompt }) });

describe('a call that its budgets allow', () => {
  it('is held at the prices of LiteLLM before, and settled at its cost after', async () => {
    const agent = newAgent();
    const response = await call(agent, { body: { metadata: { run_id: 'run-7' } } });
    expect(response.status).toBe(200);
    expect(await endedReservation(agent)).toMatchObject({ amount_micros: HELD, run_id: 'run-7', ...settled(COST) });
    const [settlement] = await eventually(async () => {
      const settlements = await tollkeeper.settlementsOf(agent);
      expect(settlements).toHaveLength(1);
      return settlements;
    });
    expect(settlement).toMatchObject({
      ...{ amount_micros: COST, run_id: 'run-7', model: 'gpt-4o', provider: 'openai' },
      ...{ input_tokens: USAGE.prompt_tokens, output_tokens: USAGE.completion_tokens },
    });
  });

  it('is settled when it is streamed', async () => {
    const agent = newAgent();
    const text = await (await call(agent, streaming())).text();
    expect(text).toContain('one two three');
    expect(text).toContain('[DONE]');
    expect(await endedReservation(agent)).toMatchObject({ amount_micros: HELD, ...settled(COST) });
  });

  it.each([
    { path: 'responses', body: { input: 'hello', messages: undefined, max_tokens: undefined, max_output_tokens: 50 } },
    { path: 'messages', body: {} },
    { path: 'messages', body: { messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] } },
  ])('is held and settled through /v1/$path', async (request) => {
    const agent = newAgent();
    expect((await call(agent, request)).status).toBe(200);
    const reservation = await endedReservation(agent);
    expect(reservation).toMatchObject(settled(COST));
    expect(reservation.amount_micros).toBeGreaterThanOrEqual(500);
    expect(reservation.amount_micros).toBeLessThanOrEqual(HELD);
  });

  it('is held for the prompt alone when it asks for an embedding', async () => {
    const agent = newAgent();
    const body = { model: 'embedding', input: 'hello '.repeat(990), messages: undefined, max_tokens: undefined };
    expect((await call(agent, { path: 'embeddings', body })).status).toBe(200);
    expect(await endedReservation(agent)).toMatchObject({ amount_micros: 20, ...settled(20) });
  });

  it('is held for the longest answer of the model when it does not limit its answer', async () => {
    const agent = newAgent();
    await call(agent, { body: { max_tokens: undefined } });
    expect((await endedReservation(agent)).amount_micros).toBe(HELD - 500 + 163_840);
  });

  it('is held for each of the answers that it asks for', async () => {
    const agent = newAgent();
    await call(agent, { body: { n: 3 } });
    expect((await endedReservation(agent)).amount_micros).toBe(HELD - 500 + 1500);
  });

  it('costs the default estimate when LiteLLM has no price of its model', async () => {
    const agent = newAgent();
    await call(agent, { body: { model: 'unpriced' } });
    expect(await endedReservation(agent)).toMatchObject({
      amount_micros: DEFAULT_ESTIMATE,
      ...settled(DEFAULT_ESTIMATE),
    });
  });

  it('counts separately when its client repeats the call id of LiteLLM', async () => {
    const agent = newAgent();
    const headers = { 'x-litellm-call-id': agent };
    await call(agent, { headers });
    await call(agent, { headers });
    await eventually(async () => {
      const reservations = await tollkeeper.reservationsOf(agent);
      expect(reservations).toMatchObject([settled(COST), settled(COST)]);
      expect(new Set(reservations.map(({ settlement_id }) => settlement_id)).size).toBe(2);
    });
  });

  it('is of the agent that its metadata names, unless the key of LiteLLM names one', async () => {
    const [alias, agent] = [newAgent(), newAgent()];
    const metadata = { agent_id: agent, run_id: 'run-of-the-request' };
    await call(alias, { body: { metadata } });
    expect(await endedReservation(agent)).toMatchObject({ run_id: 'run-of-the-request' });
    await call('owned', { body: { metadata } });
    expect(await endedReservation('agent-of-the-key')).toMatchObject({ run_id: 'run-of-the-key' });
    expect(await tollkeeper.reservationsOf(alias)).toEqual([]);
  });

  it('is of no agent that a request names, unless the field for it is set', async () => {
    const [alias, agent] = [newAgent(), newAgent()];
    await call(alias, { proxy: allowing, body: { metadata: { '': agent, agent_id: agent } } });
    expect(await endedReservation(alias)).toMatchObject(settled(COST));
    expect(await tollkeeper.reservationsOf(agent)).toEqual([]);
  });

  it('has the labels that its metadata gives, as far as Tollkeeper takes them', async () => {
    const agent = newAgent();
    const env = `\tdev\u0085\u{1f600}${'x'.repeat(200)}`;
    await call(agent, { body: { user: 'Zoë', metadata: { team_alias: 'growth', env, cost_center: '' } } });
    const labels = { team: 'growth', user: 'Zoë', env: `dev-\u{1f600}${'x'.repeat(122)}` };
    expect((await endedReservation(agent)).labels).toEqual(labels);
  });

  it('has the labels of the key of LiteLLM, whatever the request says', async () => {
    const metadata = { team_alias: 'other', end_user_id: 'other', user_id: 'other', cost_center: 'other', env: 'dev' };
    await call('labelled', { body: { user: 'other', metadata, litellm_metadata: metadata } });
    const labels = { team: 'growth', user: 'user-of-the-key', 'cost.center': '4711', env: 'dev' };
    expect((await endedReservation('agent-with-labels')).labels).toEqual(labels);
  });

  it.each([
    ['chat', { model: 'gpt-4o', provider: 'openai' }],
    ['any/gpt-4o', { model: 'gpt-4o', provider: 'openai' }],
    ['mixed', { model: null, provider: 'openai' }],
  ])('of the model %s says before what all its deployments agree about', async (model, names) => {
    const agent = newAgent();
    expect((await call(agent, { prompt: PROMPTS.fail, body: { model } })).status).toBe(500);
    expect(await endedReservation(agent)).toMatchObject({ state: 'released', ...names });
  });

  it('costs its hold when it falls back to a model that LiteLLM has no price of', async () => {
    const agent = newAgent();
    expect((await call(agent, { body: { model: 'falling' } })).status).toBe(200);
    const { amount_micros, ...reservation } = await endedReservation(agent);
    expect(amount_micros).toBeGreaterThan(0);
    expect(reservation).toMatchObject(settled(amount_micros));
  });

  it('costs its hold when LiteLLM does not say what it has cost, as of images of a model that is priced per token', async () => {
    const agent = newAgent();
    const body = { prompt: 'a cat', messages: undefined, max_tokens: undefined };
    expect((await call(agent, { path: 'images/generations', body })).status).toBe(200);
    const { amount_micros, ...reservation } = await endedReservation(agent);
    expect(amount_micros).toBeGreaterThan(0);
    expect(reservation).toMatchObject(settled(amount_micros));
  });

  it('costs nothing at a deployment whose price is 0', async () => {
    const agent = newAgent();
    await call(agent, { body: { model: 'free' } });
    expect(await endedReservation(agent)).toMatchObject({ amount_micros: 0, ...settled(0) });
  });

  it('is held for the functions and the form of the answer that its prompt brings along', async () => {
    const agent = newAgent();
    const schema = { type: 'object', properties: {}, description: 'word '.repeat(10_000) };
    const json_schema = { name: 'answer', schema };
    await call(agent, { body: { response_format: { type: 'json_schema', json_schema } } });
    expect((await endedReservation(agent)).amount_micros).toBeGreaterThan(HELD + 20_000);
  });
});

describe('a call that its budgets deny', () => {
  it('stops a loop of calls within the budget, with an error in the shape of OpenAI', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 1000);
    const answers: Response[] = [];
    do answers.push(await call(agent, { prompt: `of ${agent}` }));
    while (answers.at(-1)?.status === 200 && answers.length < 10);
    const denied = answers.at(-1) as Response;
    expect(denied.status).toBe(429);
    const { error } = (await denied.json()) as OpenAiError;
    expect(error).toMatchObject({ type: 'budget_exceeded', code: '429' });
    expect(error.message).toContain(agent);
    // Without it, the clients of OpenAI try again by themselves.
    expect(denied.headers.get('x-should-retry')).toBe('false');
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(upstream.prompts.filter((prompt) => prompt.includes(agent))).toHaveLength(answers.length - 1);
    const limit = await tollkeeper.limitOf(agent);
    expect(limit.spent_micros + limit.held_micros).toBeLessThanOrEqual(1000);
    await eventually(async () =>
      expect(await tollkeeper.blockedOf(agent)).toEqual([expect.objectContaining({ scope: 'agent' })]),
    );
  });

  it('keeps calls that run side by side within the budget', async () => {
    const agent = newAgent();
    // Each call holds 500 micros for its output and about 100 for its prompt.
    await tollkeeper.setBudget(agent, 2000);
    const calls = Array.from({ length: 10 }, () => call(agent, streaming(`${PROMPTS.wait} ${agent}`)));
    await eventually(async () => {
      expect(upstream.prompts.filter((prompt) => prompt.includes(agent))).toHaveLength(3);
      const blocked = await tollkeeper.blockedOf(agent);
      expect(blocked.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(7);
    });
    upstream.finishStreams();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([...Array(3).fill(200), ...Array(7).fill(429)]);
    await eventually(async () =>
      expect(await tollkeeper.limitOf(agent)).toMatchObject({ held_micros: 0, spent_micros: 3 * COST }),
    );
  });

  it('is refused as a bad request when its plan is unknown', async () => {
    const response = await call(newAgent(), { body: { metadata: { plan_key: 'no-such-plan' } } });
    expect(response.status).toBe(400);
    expect(((await response.json()) as OpenAiError).error.message).toContain('no-such-plan');
  });

  it('is refused as a bad request when its label is another than the key of Tollkeeper pins', async () => {
    const agent = newAgent();
    losing.key = await tollkeeper.newKey({ env: 'prod' });
    const asked = { proxy: allowing, prompt: `of ${agent}` };
    const response = await call(agent, { ...asked, body: { metadata: { env: 'dev' } } });
    expect(response.status).toBe(400);
    const message = expect.stringMatching(/pins the label env .* labels\.env: must be prod/);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', message } });
    expect(upstream.prompts.filter((prompt) => prompt.includes(agent))).toEqual([]);
    expect(allowing.logs()).not.toContain('refuses TOLLKEEPER_KEY');
    expect((await call(agent, asked)).status).toBe(200);
    expect((await endedReservation(agent)).labels).toEqual({ env: 'prod' });
    losing.key = null;
  });
});

describe('a call that does not end well', () => {
  it('is released when the provider fails', async () => {
    const agent = newAgent();
    expect((await call(agent, { prompt: PROMPTS.fail })).status).toBe(500);
    expect(await endedReservation(agent)).toMatchObject({ state: 'released' });
  });

  it('is released when no model has its name', async () => {
    const agent = newAgent();
    expect((await call(agent, { body: { model: 'nobody' } })).status).toBe(400);
    expect(await endedReservation(agent)).toMatchObject({ state: 'released' });
  });

  it('is settled for what was streamed when the provider breaks off', async () => {
    const agent = newAgent();
    await (await call(agent, streaming(PROMPTS.breakOff))).text();
    const reservation = await endedReservation(agent);
    expect(reservation.state).toBe('settled');
    expect(reservation.settled_micros).toBeGreaterThan(0);
    expect(reservation.settled_micros).toBeLessThan(COST);
  });

  it('is settled for what was streamed when its client goes away', async () => {
    const agent = newAgent();
    const client = new AbortController();
    const response = await call(agent, { ...streaming(PROMPTS.wait), signal: client.signal });
    await response.body?.getReader().read();
    client.abort();
    const reservation = await endedReservation(agent);
    expect(reservation.state).toBe('settled');
    expect(reservation.settled_micros).toBeGreaterThan(0);
    expect(reservation.settled_micros).toBeLessThan(COST);
  });

  it('is released when its client goes away before the provider says anything', async () => {
    const agent = newAgent();
    const client = new AbortController();
    const response = call(agent, { ...streaming(`${PROMPTS.silent} ${agent}`), signal: client.signal });
    await eventually(() => expect(upstream.prompts.some((prompt) => prompt.includes(agent))).toBe(true));
    client.abort();
    await expect(response).rejects.toThrow('abort');
    expect(await endedReservation(agent)).toMatchObject({ state: 'released' });
  });
});

describe('while Tollkeeper is unavailable', () => {
  it('calls are denied with 503, also when it takes connections and does not answer', async () => {
    const agent = newAgent();
    await tollkeeper.halt();
    try {
      const response = await call(agent, { prompt: `of ${agent}` });
      expect(response.status).toBe(503);
      expect((await response.json()) as OpenAiError).toMatchObject({ error: { type: 'service_unavailable' } });
    } finally {
      tollkeeper.goOn();
    }
    expect(upstream.prompts.filter((prompt) => prompt.includes(agent))).toEqual([]);
  });

  it('calls go through with `allow`, and what they cost is reported when it is back, once', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 10_000);
    await tollkeeper.end('SIGKILL');
    expect((await call(agent)).status).toBe(503);
    // In its place, what stands in front of it says that there is nothing. Nobody looks at the plan meanwhile.
    losing.status = 404;
    for (const plan_key of [undefined, 'unheard-of', 'no Plan!']) {
      const metadata = { plan_key, env: 'prod' };
      expect((await call(agent, { proxy: allowing, body: { metadata } })).status).toBe(200);
    }
    await tollkeeper.start();
    losing.status = null;
    await eventually(async () =>
      expect(await tollkeeper.limitOf(agent)).toMatchObject({
        ...{ spent_micros: 3 * COST, held_micros: 0 },
        overspend_micros: { above_hold: 0, late: 0, unreserved: 3 * COST },
      }),
    );
    expect(await tollkeeper.reservationsOf(agent)).toEqual([]);
    const reported = losing.bodies('/events').at(-1);
    const spend = { agent_id: agent, model: 'gpt-4o', provider: 'openai', labels: { env: 'prod' } };
    expect(reported).toEqual(Array(3).fill(expect.objectContaining({ data: expect.objectContaining(spend) })));
  });

  it('a hold whose answer was lost is settled by its call, or released when the call is over', async () => {
    const [quick, slow] = [newAgent(), newAgent()];
    for (const agent of [quick, slow]) await tollkeeper.setBudget(agent, 100_000);
    losing.losesAnswers = true;
    const stream = call(slow, { proxy: allowing, ...streaming(PROMPTS.wait) });
    expect((await call(quick, { proxy: allowing })).status).toBe(200);
    losing.losesAnswers = false;
    await eventually(async () => {
      expect(await tollkeeper.reservationsOf(quick)).toMatchObject([{ state: 'released' }]);
      expect(await tollkeeper.limitOf(quick)).toMatchObject({ held_micros: 0, spent_micros: COST });
    });
    upstream.finishStreams();
    await (await stream).text();
    expect(await endedReservation(slow)).toMatchObject(settled(COST));
    expect(await tollkeeper.limitOf(slow)).toMatchObject({ overspend_micros: { unreserved: 0 } });
  });

  it('a call that fails then is released when it is back', async () => {
    const agent = newAgent();
    const failing = call(agent, { prompt: `${PROMPTS.failLate} ${agent}` });
    await eventually(() => expect(upstream.prompts.some((prompt) => prompt.includes(agent))).toBe(true));
    await tollkeeper.end('SIGKILL');
    upstream.finishStreams();
    expect((await failing).status).toBe(500);
    await tollkeeper.start();
    expect(await endedReservation(agent)).toMatchObject({ state: 'released' });
  });

  it('a call that ends then is settled when it is back, under its reservation', async () => {
    const agent = newAgent();
    await tollkeeper.setBudget(agent, 10_000);
    const response = await call(agent, streaming(PROMPTS.wait));
    await tollkeeper.end('SIGKILL');
    upstream.finishStreams();
    expect(await response.text()).toContain('[DONE]');
    await tollkeeper.start();
    expect(await endedReservation(agent)).toMatchObject(settled(COST));
    expect(await tollkeeper.limitOf(agent)).toMatchObject({
      ...{ spent_micros: COST, held_micros: 0 },
      overspend_micros: { above_hold: 0, late: 0, unreserved: 0 },
    });
  });
});

it.each([
  ['TTL_SECONDS', '5', 'must be a number from 10 to 3600'],
  ['LABELS', 'team=team_alias,Env', "cannot have the label 'Env': a name has 1 to 32 characters"],
  ['LABELS', 'team=team_alias,team', "has the label 'team' twice"],
  ['LABELS', 'team=', "names no field for the label 'team'"],
  ['LABELS', 'a,b,c,d,e,f,g,h,i,j,k', 'must be at most 10 labels'],
])('the proxy does not start with %s=%s, and says why', async (name, value, problem) => {
  const env = { TOLLKEEPER_URL: tollkeeper.url, TOLLKEEPER_KEY: tollkeeper.key, [`TOLLKEEPER_${name}`]: value };
  const starting = startLitellm({ upstreamUrl: upstream.url, env });
  await expect(starting).rejects.toThrow(`TOLLKEEPER_${name} ${problem}`);
});

it('the key of Tollkeeper is in no log', () => {
  for (const proxy of [denying, allowing]) {
    expect(proxy.logs()).toContain('tollkeeper');
    expect(proxy.logs()).not.toContain(tollkeeper.key.split('.')[1]);
  }
});
