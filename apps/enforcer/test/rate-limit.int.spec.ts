import { describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import type { Body } from './enforcer.stack.ts';
import { descriptor, headersOf, useRateLimits } from './rate-limit.stack.ts';

const stack = useRateLimits(useMongo());
const { budgets, counted, limitedTo, proxyOf } = stack;

const reservationIn = (answer: Body) => headersOf(answer, 'requestHeadersToAdd')['x-tollkeeper-reservation']!;

const GPT_TOKENS = [
  { tollkeeper: 'settle', model: 'gpt-4o-2026-08-06', unit: 'input_tokens', hits: 1_200 },
  { tollkeeper: 'settle', model: 'gpt-4o-2026-08-06', unit: 'output_tokens', hits: 345 },
  { tollkeeper: 'settle', model: 'gpt-4o-2026-08-06', unit: 'cached_tokens', hits: 1_024 },
  { tollkeeper: 'done', model: 'gpt-4o-2026-08-06', hits: 0 },
];

describe('a call through a proxy', () => {
  it('is reserved before and settled after at the price of its tokens, once, however often they are reported', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    const answer = await proxy.reserve({ hits: 50_000 });
    expect(answer).toMatchObject({ overallCode: 'OK' });
    const id = reservationIn(answer);
    expect(answer['dynamicMetadata']).toMatchObject({ fields: { reservation_id: { stringValue: id } } });
    expect(await proxy.reserve({ hits: 50_000 }, 1)).toMatchObject({ overallCode: 'OK' });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 50_000 });

    for (let time = 0; time < 3; time += 1) {
      expect(await proxy.report(...GPT_TOKENS)).toMatchObject({ overallCode: 'OK' });
    }
    expect(await counted(workspace)).toEqual({ spent: 5_170, held: 0 });
    expect(await workspace.read(id)).toMatchObject({ state: 'settled', settled_micros: 5_170 });
    expect(workspace.events('spend.settled').map(({ data }) => data)).toMatchObject([
      {
        ...{ reservation_id: id, amount_micros: 5_170, model: 'gpt-4o-2026-08-06', run_id: 'run-1' },
        ...{ input_tokens: 1_200, output_tokens: 345, tokens: { input: 176, cache_read: 1_024, output: 345 } },
        ...{ priced_by: 'table', price_id: expect.any(String), price_version: expect.any(String) },
      },
    ]);
  });

  it.each([
    ['micros', { hits: 700 }, 700],
    ['nothing, and no price is known', {}, 50_000],
    ['0 micros', { hits: 0 }, 50_000],
    ['the most tokens of the answer', { hits: 700, model: 'gpt-4o', max_tokens: 400 }, 4_000],
    ['more micros than that, without the size of its input', { hits: 4_100, model: 'gpt-4o', max_tokens: 400 }, 4_100],
    ['its bytes too', { hits: 90_000, model: 'gpt-4o', max_tokens: 400, bytes: 1_000 }, 5_250],
    ['tokens of a model', { hits: 100, unit: 'tokens', model: 'gpt-4o' }, 1_000],
    ['a model without a price', { hits: 700, model: 'house-1', max_tokens: 400 }, 700],
  ])('holds what it can cost if the proxy says %s', async (_said, more, held) => {
    const workspace = limitedTo(1_000_000);
    await proxyOf(workspace).reserve(more);
    expect(await counted(workspace)).toEqual({ spent: 0, held });
  });

  it('is settled at what it held, if it was answered and its usage or its price is not known', async () => {
    const workspace = limitedTo(100_000);
    for (const more of [
      { tollkeeper: 'done', hits: 0 },
      { tollkeeper: 'settle', unit: 'input_tokens', hits: 9 },
    ]) {
      const proxy = proxyOf(workspace);
      await proxy.reserve({ hits: 700 });
      await proxy.report({ ...more, model: 'house-1' });
      await proxy.report({ ...more, model: 'house-1' });
    }
    expect(await counted(workspace)).toEqual({ spent: 1_400, held: 0 });
    expect(workspace.events('spend.settled').map(({ data }) => data)).toMatchObject([
      { priced_by: 'reservation' },
      { priced_by: 'reservation', input_tokens: 9 },
    ]);
  });

  it('is released if it was not answered, and never by a settlement without hits', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.reserve({ hits: 700 });
    await proxy.report({ tollkeeper: 'settle', hits: 0 });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 700 });
    for (let time = 0; time < 2; time += 1) await proxy.report({ tollkeeper: 'done', hits: 0 });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
  });

  it('counts in full, as unreserved spend, if it was made without a reservation or after its release', async () => {
    const workspace = stack.newWorkspace({ team: 'growth' });
    budgets.setWorkspace(workspace.tenantId, 100);
    const released = proxyOf(workspace);
    await released.reserve({ hits: 50 });
    await released.report({ tollkeeper: 'done', hits: 0 });
    for (const proxy of [released, proxyOf(workspace)]) {
      for (let time = 0; time < 2; time += 1) await proxy.report({ tollkeeper: 'settle', hits: 700 });
    }
    expect(await counted(workspace)).toEqual({ spent: 1_400, held: 0 });
    const [limit] = (await workspace.limits()).items as { overspend_micros: Body }[];
    expect(limit!.overspend_micros).toMatchObject({ unreserved: 1_400 });
    expect(workspace.events('spend.settled')[0]!.data).toMatchObject({
      labels: { team: 'growth' },
      agent_id: 'planner',
    });
  });

  it('that another report has settled first is not counted again', async () => {
    const workspace = limitedTo(100_000);
    const call = newId('req');
    const proxy = proxyOf(workspace, { agent: 'planner', call });
    await proxy.reserve({ hits: 50_000 });
    await workspace.spend({ amount_micros: 400, request_id: `call:${call}`, settlement_id: 'rsp:another' });
    await stack.posted();
    await proxy.report(...GPT_TOKENS);
    expect(await counted(workspace)).toEqual({ spent: 400, held: 0 });
  });

  it('counts for each of its answers, if a caller uses the id of a call again', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.reserve({ hits: 50_000 });
    const answered = (letter: string) => ({
      ...{ tollkeeper: 'settle', hits: 700, response: `chatcmpl-${letter.repeat(29)}` },
    });
    for (const letter of ['A', 'B', 'A', 'B']) await proxy.report(answered(letter));
    expect(await counted(workspace)).toEqual({ spent: 1_400, held: 0 });
    await Promise.all(['C', 'D'].map((letter) => proxy.report(answered(letter))));
    expect(await counted(workspace)).toEqual({ spent: 2_800, held: 0 });
  });

  it('is released if its answer was counted for another call, such as one from a cache', async () => {
    const workspace = limitedTo(100_000);
    const settle = { tollkeeper: 'settle', hits: 700, response: `chatcmpl-${'A'.repeat(29)}` };
    for (let time = 0; time < 2; time += 1) {
      const proxy = proxyOf(workspace);
      await proxy.reserve({ hits: 50_000 });
      await proxy.report(settle);
      await proxy.report(settle);
    }
    expect(await counted(workspace)).toEqual({ spent: 700, held: 0 });
  });

  it.each([
    ['the model that was asked for, if the one that answered has no price', 'house-1'],
    ['the model that was asked for, if the one that answered has a name that is too long', 'm'.repeat(200)],
  ])('has the price of %s', async (_what, model) => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.reserve({ hits: 50_000, model: 'gpt-4o' });
    await proxy.report({ tollkeeper: 'settle', model, unit: 'output_tokens', hits: 345 });
    expect(await counted(workspace)).toEqual({ spent: 3_450, held: 0 });
  });

  it('has the price of its tokens also if prices cannot be read when it ends, but soon after', async () => {
    const workspace = limitedTo(100_000);
    const call = { agent: 'planner', call: newId('req') };
    await proxyOf(workspace, call).reserve({ hits: 50_000 });
    budgets.state.down = true;
    const descriptors = GPT_TOKENS.map((one) => descriptor({ ...call, ...one }));
    const answer = await workspace.rpc('ShouldRateLimit', { domain: 'x', descriptors });
    expect(answer).toMatchObject({ status: 'UNAVAILABLE' });
    budgets.state.down = false;
    await eventually(async () => {
      stack.passRetryAfter();
      expect(await counted(workspace)).toEqual({ spent: 5_170, held: 0 });
    });
  });

  it('of Anthropic has cached tokens besides those of its input, also those that were written', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.reserve({ hits: 50_000 });
    const settle = { tollkeeper: 'settle', model: 'claude-sonnet-4-5-20250929' };
    await proxy.report(
      { ...settle, unit: 'input_tokens', hits: 2_000 },
      { ...settle, unit: 'cached_tokens', hits: 1_024 },
      { ...settle, unit: 'cache_write_tokens', hits: 300 },
      { ...settle, unit: 'output_tokens', hits: 345 },
    );
    // In USD per million: 3, 0.3, 3.75 and 15.
    const spent = Math.round(6_000 + 307.2 + 1_125 + 5_175);
    expect(await counted(workspace)).toEqual({ spent, held: 0 });
    expect(workspace.events('spend.settled')[0]!.data).toMatchObject({
      ...{ input_tokens: 3_324, tokens: { input: 2_000, cache_read: 1_024, cache_write: 300, output: 345 } },
    });
  });

  it('that was made without a reservation counts while the labels of its agent cannot be read', async () => {
    const workspace = stack.newWorkspace({ team: 'growth' });
    budgets.setWorkspace(workspace.tenantId, 100);
    await proxyOf(workspace).report({ tollkeeper: 'settle', hits: 1 });
    stack.identity.state.down = true;
    const coder = proxyOf(workspace, { agent: 'coder', call: newId('req') });
    await coder.report({ tollkeeper: 'settle', hits: 700, 'label.env': 'prod' });
    expect(workspace.events('spend.settled').map(({ data }) => data)).toMatchObject([
      { agent_id: 'planner', amount_micros: 1 },
      { agent_id: 'coder', amount_micros: 700, labels: { team: 'growth', env: 'prod' } },
    ]);
  });

  it('has the settlement id of its response, which other reports of the call have too', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.reserve({ hits: 50_000 });
    await proxy.report({ tollkeeper: 'settle', hits: 9, response: 'chatcmpl-CabcdefghijklmnopqrstuvwxyzAB' });
    expect(workspace.events('spend.settled')[0]!.data).toMatchObject({
      settlement_id: expect.stringMatching(/^rsp:[0-9a-f]{32}$/),
    });
  });

  it('of agentgateway is asked without a cost and settled with it, by the same entries', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.report({ tollkeeper: 'call', hits: 0 });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 50_000 });
    await proxy.report({ tollkeeper: 'call', hits: 1_234 });
    expect(await counted(workspace)).toEqual({ spent: 1_234, held: 0 });
  });

  it('is decided, and nothing is held, if the proxy only checks', async () => {
    const workspace = limitedTo(100);
    const check = (hits: number) => proxyOf(workspace).send([{ tollkeeper: 'check', agent: 'planner', hits }]);
    expect([await check(100), await check(101)]).toMatchObject([{ overallCode: 'OK' }, { overallCode: 'OVER_LIMIT' }]);
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
    expect(workspace.events('budget.blocked')).toEqual([]);
  });

  it('cannot be made again under its id once it has ended', async () => {
    const workspace = limitedTo(100_000);
    const proxy = proxyOf(workspace);
    await proxy.reserve({ hits: 700 });
    await proxy.report({ tollkeeper: 'settle', hits: 5 });
    expect(await proxy.reserve({ hits: 700 })).toMatchObject({
      ...{ status: 'ALREADY_EXISTS', code: 'conflict', details: [{ path: 'call' }] },
      message: 'The reservation of the call with this call is already settled. Give each call an id of its own.',
    });
  });
});
