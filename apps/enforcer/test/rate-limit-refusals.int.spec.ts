import { describe, expect, it } from '@jest/globals';
import { newId } from '@tollkeeper/kernel';
import { useMongo } from '@tollkeeper/testing';
import type { Body } from './enforcer.stack.ts';
import { descriptor, type Entries, headersOf, useRateLimits } from './rate-limit.stack.ts';

const stack = useRateLimits(useMongo());
const { budgets, clock, counted, limitedTo, proxyOf } = stack;
type Workspace = ReturnType<typeof limitedTo>;

const bodyOf = (answer: Body) => JSON.parse((answer['rawBody'] as Buffer).toString()) as Body;

describe('a request that is not valid', () => {
  const many = (count: number): Entries => Object.fromEntries(Array.from({ length: count }, (_, i) => [`l${i}`, 'x']));
  const reserve = { tollkeeper: 'reserve', agent: 'planner', call: 'c-1' };

  it.each([
    ['no descriptors', [], 'descriptors must not be empty'],
    ['21 descriptors', Array<Entries>(21).fill(reserve), 'descriptors must have at most 20 descriptors'],
    ['10,000 entries', [{ ...reserve, ...many(10_000) }], 'descriptors[0].entries must have at most 32 entries'],
    ['11 labels', [{ ...reserve, ...many(11) }], 'descriptors[0].labels must be at most 10 labels'],
    [
      'a long value',
      [{ ...reserve, model: 'm'.repeat(70_000) }],
      'descriptors[0].entries[3].value must be at most 65536',
    ],
    ['no agent', [{ tollkeeper: 'reserve', call: 'c-1' }], 'descriptors[0].agent is required'],
  ])('(%s) is refused by the name of what is wrong, and changes nothing', async (_what, descriptors, message) => {
    const workspace = limitedTo(100);
    expect(await proxyOf(workspace).send(descriptors)).toMatchObject({
      status: 'INVALID_ARGUMENT',
      message: expect.stringContaining(`The request is not valid: ${message}`),
    });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
  });

  it('is refused if it is larger than 320 KiB', async () => {
    const huge = { ...reserve, ...Object.fromEntries([['x', 'y'.repeat(400_000)]]) };
    expect(await proxyOf(limitedTo(100)).send([huge])).toMatchObject({ status: 'RESOURCE_EXHAUSTED' });
  });
});

describe('a denied call', () => {
  it('gets the error of its API, when to come back, and what is left; and nothing is held', async () => {
    const workspace = limitedTo(100);
    const denied = await proxyOf(workspace).reserve({ hits: 101 });
    expect(denied).toMatchObject({ overallCode: 'OVER_LIMIT', requestHeadersToAdd: [] });
    expect(headersOf(denied, 'responseHeadersToAdd')).toEqual({
      'content-type': 'application/json',
      'retry-after': String(86_400 / 2),
      'x-ratelimit-limit': '100',
      'x-ratelimit-remaining': '100',
      'x-ratelimit-reset': String(86_400 / 2),
    });
    const message = expect.stringContaining('has spent $0.00 and holds $0.00 of its daily budget of $0.0001');
    expect(bodyOf(denied)).toEqual({
      error: { message, type: 'budget_exceeded', param: null, code: 'budget_exceeded' },
    });
    const anthropic = await proxyOf(workspace).reserve({ hits: 101, format: 'anthropic' });
    expect(bodyOf(anthropic)).toEqual({ type: 'error', error: { type: 'rate_limit_error', message } });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
    expect(workspace.events('budget.blocked')).toHaveLength(1);
  });

  it('denies all calls of its request, and a repeated request is decided anew', async () => {
    const workspace = limitedTo(1_000);
    budgets.setAgent(workspace.tenantId, 'poor', 10);
    const [first, second] = [newId('req'), newId('req')];
    const both = [
      { tollkeeper: 'reserve', agent: 'rich', call: first, hits: 500 },
      { tollkeeper: 'reserve', agent: 'poor', call: second, hits: 500 },
    ];
    const proxy = proxyOf(workspace);
    expect(await proxy.send(both)).toMatchObject({ overallCode: 'OVER_LIMIT' });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
    expect(workspace.events('budget.blocked').map(({ data }) => data)).toMatchObject([{ agent_id: 'poor' }]);
    budgets.setAgent(workspace.tenantId, 'poor', 600);
    clock.now += 2_000;
    expect(await proxy.send(both)).toMatchObject({ overallCode: 'OK' });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 1_000 });
  });

  it('denies all calls of its request also if each of them alone would fit', async () => {
    const workspace = limitedTo(900);
    const reserve = { tollkeeper: 'reserve', agent: 'planner', hits: 500 };
    const denied = await proxyOf(workspace).send([
      { ...reserve, call: newId('req') },
      { ...reserve, call: newId('req') },
    ]);
    expect(denied).toMatchObject({ overallCode: 'OVER_LIMIT' });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 0 });
  });

  it('is the first one that does not fit: 64 at a time on two replicas fill a budget and never exceed it', async () => {
    const workspace = limitedTo(10_000);
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => proxyOf(workspace).reserve({ hits: 500 }, index % 2)),
    );
    expect(answers.filter(({ overallCode }) => overallCode === 'OK')).toHaveLength(20);
    expect(answers.filter(({ overallCode }) => overallCode === 'OVER_LIMIT')).toHaveLength(44);
    expect(await counted(workspace)).toEqual({ spent: 0, held: 10_000 });
  });
});

describe('the key', () => {
  const request = (workspace: Workspace, domain: string) => ({
    domain,
    descriptors: [descriptor({ tollkeeper: 'reserve', agent: 'planner', call: newId('req'), hits: 5 })],
    tenant: workspace.tenantId,
  });

  it('may be the domain, where the metadata have none', async () => {
    const workspace = limitedTo(100);
    const answer = await stack.grpc.call('ShouldRateLimit', request(workspace, workspace.apiKey));
    expect(answer).toMatchObject({ overallCode: 'OK' });
    expect(await counted(workspace)).toEqual({ spent: 0, held: 5 });
  });

  it.each(['tollkeeper', '', `ws_live_${'a'.repeat(60)}`])('is required: the domain %j is none', async (domain) => {
    expect(await stack.grpc.call('ShouldRateLimit', request(limitedTo(100), domain))).toMatchObject({
      status: 'UNAUTHENTICATED',
    });
  });

  it('ends only calls of its own workspace', async () => {
    const [victim, other] = [limitedTo(1_000), limitedTo(1_000)];
    const call = { agent: 'planner', call: newId('req') };
    await proxyOf(victim, call).reserve({ hits: 700 });
    await proxyOf(other, call).report({ tollkeeper: 'done', hits: 0 });
    await proxyOf(other, call).report({ tollkeeper: 'settle', hits: 3 });
    expect([await counted(victim), await counted(other)]).toEqual([
      { spent: 0, held: 700 },
      { spent: 3, held: 0 },
    ]);
  });
});

it('while budgets is down and none are known, the answer is UNAVAILABLE', async () => {
  const workspace = stack.newWorkspace();
  budgets.state.down = true;
  const descriptors = [descriptor({ tollkeeper: 'reserve', agent: 'planner', call: newId('req'), hits: 5 })];
  expect(await workspace.rpc('ShouldRateLimit', { domain: 'x', descriptors })).toMatchObject({ status: 'UNAVAILABLE' });
});
