import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@tollkeeper/testing';
import { type LitellmProxy, refusalsOfLabels, startLitellm } from './litellm.proxy.ts';
import { COST, newAgent, type OpenAiError, settled, streaming, useLitellm } from './litellm.stage.ts';
import type { LosingProxy } from './losing.proxy.ts';
import { PROMPTS, type Upstream } from './openai.upstream.ts';
import type { Tollkeeper } from './tollkeeper.ts';

const { started, call, endedReservation, itKeepsKeysOutOfLogs } = useLitellm();
let upstream: Upstream;
let tollkeeper: Tollkeeper;
let allowing: LitellmProxy;
let losing: LosingProxy;
beforeAll(() => {
  ({ upstream, tollkeeper, allowing, losing } = started());
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

  it('a call waits for a decision that first is 503, and is held once', async () => {
    const agent = newAgent();
    const refusedBefore = losing.refused;
    losing.status = 503;
    const response = call(agent, { proxy: allowing });
    await eventually(() => expect(losing.refused).toBeGreaterThan(refusedBefore));
    losing.status = null;
    expect((await response).status).toBe(200);
    expect(await endedReservation(agent)).toMatchObject(settled(COST));
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

it('the proxy does not start with a wrong setting, and says why', async () => {
  const env = { TOLLKEEPER_URL: tollkeeper.url, TOLLKEEPER_KEY: tollkeeper.key, TOLLKEEPER_TTL_SECONDS: '5' };
  const starting = startLitellm({ upstreamUrl: upstream.url, env });
  await expect(starting).rejects.toThrow('TOLLKEEPER_TTL_SECONDS must be a number from 10 to 3600');
});

it('wrong labels are refused, each with its reason', async () => {
  const reasons = {
    'team=team_alias,Env': "cannot have the label 'Env': a name has 1 to 32 characters",
    'team=team_alias,team': "has the label 'team' twice",
    'team=': "names no field for the label 'team'",
    'a,b,c,d,e,f,g,h,i,j,k': 'must be at most 10 labels',
  };
  const refusals = await refusalsOfLabels(Object.keys(reasons));
  for (const [index, reason] of Object.values(reasons).entries()) {
    expect(refusals[index]).toContain(`TOLLKEEPER_LABELS ${reason}`);
  }
});

itKeepsKeysOutOfLogs();
