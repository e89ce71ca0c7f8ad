import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import type { LitellmProxy } from './litellm.proxy.ts';
import {
  COST,
  DEFAULT_ESTIMATE,
  HELD,
  newAgent,
  type OpenAiError,
  settled,
  streaming,
  useLitellm,
} from './litellm.stage.ts';
import type { LosingProxy } from './losing.proxy.ts';
import { PROMPTS, type Upstream, USAGE } from './openai.upstream.ts';
import type { Tollkeeper } from './tollkeeper.ts';

const { started, call, endedReservation, itKeepsKeysOutOfLogs } = useLitellm();
let upstream: Upstream;
let tollkeeper: Tollkeeper;
let allowing: LitellmProxy;
let losing: LosingProxy;
beforeAll(() => {
  ({ upstream, tollkeeper, allowing, losing } = started());
});

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
    expect(error.message).toContain(`POST /api/v1/raise-requests with budget_id bud_agent.${agent}`);
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

  it('is denied with an error of its own while its agent is paused, which says why', async () => {
    const agent = newAgent();
    await tollkeeper.pause(agent, 'Runaway loop');
    const denied = await eventually(async () => {
      const answer = await call(agent);
      expect(answer.status).toBe(429);
      return answer;
    });
    const { error } = (await denied.json()) as OpenAiError;
    expect(error).toMatchObject({ type: 'paused', message: expect.stringMatching(/is paused until .*"Runaway loop"/) });
    expect(Number(denied.headers.get('retry-after'))).toBeGreaterThan(3_000);
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

itKeepsKeysOutOfLogs();
