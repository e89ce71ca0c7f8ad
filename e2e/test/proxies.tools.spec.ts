import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@tollkeeper/managed-process';
import { eventually } from '@tollkeeper/testing';
import {
  newDataDirectory,
  removeDataDirectory,
  type StandaloneProcess,
  startStandalone,
} from '@tollkeeper/testing/standalone-process';
import { type ApiClient, logIn } from '../src/api.client.ts';
import { startNginx, startTraefik } from '../src/asking.proxies.ts';
import { type EnvoySurroundings, type NamedModels, startEnvoy, startNamedModels } from '../src/envoy.ts';
import type { ProxyProcess, ProxySurroundings } from '../src/proxy.process.ts';
import { blocksOf } from '../src/readme.blocks.ts';
import { newWorkspace, type TestWorkspace } from '../src/workspace.ts';

const PAGE = join(import.meta.dirname, '../../docs/proxies.md');
/** The filter of the example that the page replaces. */
const RATE_LIMIT =
  /^ *- name: envoy\.filters\.http\.ratelimit\n(?:(?! *- name: envoy\.filters\.http\.router)[^\n]*\n)*/m;
/** Its settings of a route. */
const RATE_LIMITS_OF_ROUTE =
  /^ *typed_per_filter_config:\n *envoy\.filters\.http\.ratelimit:\n(?:(?! *http_filters)[^\n]*\n)*/m;

/** 345 tokens of output, and 1,200 of input of which 1,024 are cached, of gpt-4o. */
const PRICE = 5_170;
const LIMITS = { ample: 1_000_000, none: 0, crowd: 60_000, dozen: 600_000 };
/** What each call holds at least: the price of the 400 tokens that its answer may have. */
const LEAST_HOLD = 4_000;
/** What Traefik and nginx hold for each call. */
const ESTIMATE = 50_000;

let dataDirectory: string;
let standalone: StandaloneProcess;
let model: NamedModels;
let owner: ApiClient;
let workspace: TestWorkspace;
let surroundings: ProxySurroundings;
const started: ProxyProcess[] = [];

async function envoyWith(change?: (settings: string) => string, more: Partial<EnvoySurroundings> = {}) {
  const envoy = await startEnvoy({ ...surroundings, ...(change && { change }), ...more });
  started.push(envoy);
  return envoy;
}

beforeAll(async () => {
  const grpcPort = await freePort();
  [dataDirectory, model] = await Promise.all([newDataDirectory(), startNamedModels()]);
  standalone = await startStandalone({ dataDirectory, env: { ENFORCER_GRPC_PORT: String(grpcPort) } });
  owner = await logIn(standalone, standalone.owner);
  workspace = await newWorkspace(owner);
  surroundings = { url: standalone.baseUrl, grpcPort, apiKey: workspace.apiKey, modelPort: model.port };
});
afterAll(async () => {
  await Promise.all(started.map((proxy) => proxy.stop()));
  await standalone?.end('SIGTERM');
  await model?.stop();
  await removeDataDirectory(dataDirectory);
});

/** An agent with this daily budget. */
async function agentWith(limit: keyof typeof LIMITS): Promise<string> {
  const agent = `${limit}-${Math.random().toString(36).slice(2)}`;
  const made = { agent_id: agent, display_name: agent };
  await owner.expect({ method: 'POST', path: workspace.path('/agents'), body: made, status: 201 });
  const path = `/api/v1/workspaces/${workspace.id}/budgets/agents/${agent}`;
  const body = { daily_budget_usd_micros: LIMITS[limit] };
  await owner.expect({ method: 'PUT', path, body });
  return agent;
}

const body = (more: object) =>
  JSON.stringify({ model: 'gpt-4o', max_tokens: 400, messages: [{ role: 'user', content: 'Hello' }], ...more });

/** Asks again after a 503, as callers do: the machine may be busy. nginx makes a 500 of it. */
const ask = (proxy: ProxyProcess, agent: string, more: object = {}, { busy = [503], ...options }: Asking = {}) =>
  eventually(async () => {
    const response = await askOnce(proxy, agent, more, options);
    if (busy.includes(response.status)) throw new Error(`${response.status} ${await response.text()}`);
    return response;
  });

interface Asking {
  signal?: AbortSignal;
  /** The id of the call. Those of callers do not count at Envoy and nginx, else there would be one call. */
  callId?: string;
  busy?: number[];
}

function askOnce({ url }: ProxyProcess, agent: string, more: object = {}, { signal, callId }: Asking = {}) {
  const headers = { 'content-type': 'application/json', 'x-agent': agent, 'x-run': 'run-1' };
  const sent = { ...headers, 'x-tollkeeper-agent': agent, 'x-request-id': callId ?? 'chosen-by-the-caller' };
  return fetch(`${url}/v1/chat/completions`, {
    ...{ method: 'POST', headers: sent, body: body(more) },
    ...(signal && { signal }),
  });
}

interface Limit {
  spent_micros: number;
  held_micros: number;
  overspend_micros: Record<string, number>;
}
async function limitOf(agent: string): Promise<Limit> {
  const path = workspace.path(`/limits?agent_id=${agent}`);
  const { items } = await owner.expect<{ items: (Limit & { scope: string })[] }>({ path });
  return items.find(({ scope }) => scope === 'agent')!;
}

/** Waits until everything about the calls of the agent is reported. */
const settledAt = (agent: string, spent: number) =>
  eventually(async () => expect(await limitOf(agent)).toMatchObject({ spent_micros: spent, held_micros: 0 }));

/** How often the dashboard counts calls of the agent. */
const countedCalls = (agent: string, calls: number) =>
  eventually(async () => {
    const path = workspace.path(`/dashboard/top-agents/details?range=today&agent_id=${agent}`);
    const { models } = await owner.expect<{ models: { unique_settlements: number }[] }>({ path });
    expect(models.reduce((sum, { unique_settlements: count }) => sum + count, 0)).toBe(calls);
  });

async function expectDenial(response: Response): Promise<void> {
  expect([response.status, response.headers.get('content-type')]).toEqual([
    429,
    expect.stringMatching(/^application\/json/),
  ]);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await response.json()).toEqual({
    error: {
      message: expect.stringMatching(/ask an owner to raise the budget/i),
      ...{ type: 'budget_exceeded', param: null, code: 'budget_exceeded' },
    },
  });
}

/** The settings of the example with the filter of this kind that the page has. */
async function withFilterOfPage(kind: 'grpc_service' | 'http_service') {
  const blocks = blocksOf(await readFile(PAGE, 'utf8'), 'yaml');
  const filter = blocks.find((block) => block.includes('envoy.filters.http.ext_authz') && block.includes(kind))!;
  const indented = filter.replaceAll(/^(?=.)/gm, ' '.repeat(18));
  return (settings: string) =>
    settings
      .replace(RATE_LIMIT, `${indented}\n`)
      .replaceAll('envoy.filters.http.ratelimit:reservation_id', 'envoy.filters.http.ext_authz:reservation_id')
      // The route has settings of the filter that is gone.
      .replace(RATE_LIMITS_OF_ROUTE, '');
}

/** The settings of the example with the access log over gRPC that the page has, also for requests that begin. */
async function withLogOfPage() {
  const blocks = blocksOf(await readFile(PAGE, 'utf8'), 'yaml');
  const log = blocks.find((block) => block.includes('HttpGrpcAccessLogConfig'))!;
  const whenRequestsBegin = '\naccess_log_options: { flush_access_log_on_new_request: true }';
  const indented = `${log.trimEnd()}${whenRequestsBegin}\n`.replaceAll(/^(?=.)/gm, ' '.repeat(16));
  return (settings: string) => settings.replace(/^ *access_log:\n(?:(?! {2}clusters:)[^\n]*\n)*/m, indented);
}

describe('behind Envoy with the rate limit service', () => {
  let envoy: ProxyProcess;
  beforeAll(async () => {
    envoy = await envoyWith();
  });

  it.each([
    ['whole', {}],
    ['streamed', { stream: true, stream_options: { include_usage: true } }],
  ])(
    'a %s call is settled at its price, and counts once although the access log reports it too',
    async (_how, more) => {
      const agent = await agentWith('ample');
      const response = await ask(envoy, agent, more);
      expect(response.status).toBe(200);
      await response.text();
      await settledAt(agent, PRICE);
      expect(model.reservations(agent)).toEqual([expect.stringMatching(/^rsv_/)]);
      await countedCalls(agent, 1);
      expect((await limitOf(agent)).overspend_micros).toMatchObject({ late: 0, unreserved: 0 });
    },
  );

  it('a call that does not fit gets the error of its API, and the model never sees it', async () => {
    const agent = await agentWith('none');
    const response = await ask(envoy, agent);
    expect(response.headers.get('x-envoy-ratelimited')).toBe('true');
    await expectDenial(response);
    expect(model.reservations(agent)).toEqual([]);
    await settledAt(agent, 0);
  });

  it('a call that the model refuses is released', async () => {
    const agent = await agentWith('ample');
    expect((await ask(envoy, agent, { model: 'gpt-4o-fails' })).status).toBe(500);
    expect(model.reservations(agent)).toHaveLength(1);
    await settledAt(agent, 0);
  });

  it('a call whose caller leaves in the middle is settled at what was held', async () => {
    const agent = await agentWith('ample');
    const left = new AbortController();
    const response = await ask(envoy, agent, { model: 'gpt-4o-slow', stream: true }, { signal: left.signal });
    await response.body!.getReader().read();
    const { held_micros: held } = await limitOf(agent);
    expect(held).toBe(50_000);
    left.abort();
    await settledAt(agent, held);
  });

  it('64 calls at a time spend no more than the budget and what they cost above their estimates', async () => {
    const agent = await agentWith('crowd');
    const answers = await Promise.all(Array.from({ length: 64 }, () => ask(envoy, agent)));
    await Promise.all(answers.map((response) => response.text()));
    const passed = answers.filter(({ status }) => status === 200).length;
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 429)).toEqual([]);
    expect(passed).toBeLessThan(64);
    await settledAt(agent, passed * PRICE);
    const { overspend_micros: terms } = await limitOf(agent);
    expect(passed * PRICE - LIMITS.crowd).toBeLessThanOrEqual(terms['above_hold']!);
    expect(terms['above_hold']).toBeLessThan(passed * (PRICE - LEAST_HOLD));
    expect(terms).toMatchObject({ late: 0, unreserved: 0 });
    await countedCalls(agent, passed);
  });

  it('a call without an agent is refused, and does not pass unasked', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${envoy.url}/v1/chat/completions`, { method: 'POST', headers, body: body({}) });
    expect(response.status).toBe(503);
  });
});

describe('while Tollkeeper cannot be reached', () => {
  it('Envoy answers 503, or passes calls if it is set to do so', async () => {
    const away = { grpcPort: await freePort() };
    const closed = await envoyWith(undefined, away);
    const open = await envoyWith(
      (settings) => settings.replace('failure_mode_deny: true', 'failure_mode_deny: false'),
      away,
    );
    const agent = await agentWith('none');
    expect([(await askOnce(closed, agent)).status, (await askOnce(open, agent)).status]).toEqual([503, 200]);
    expect(model.reservations(agent)).toHaveLength(1);
    // The access log still reports it.
    await eventually(async () => expect((await limitOf(agent)).overspend_micros['unreserved']).toBe(PRICE));
  });
});

describe.each([
  ['gRPC', 'grpc_service'],
  ['HTTP', 'http_service'],
] as const)('behind Envoy with external authorization over %s', (_name, kind) => {
  let envoy: ProxyProcess;
  beforeAll(async () => {
    envoy = await envoyWith(await withFilterOfPage(kind));
  });

  it('a call is settled by the access log, and one that does not fit is denied', async () => {
    const [rich, poor] = [await agentWith('ample'), await agentWith('none')];
    const response = await ask(envoy, rich);
    expect(response.status).toBe(200);
    await response.text();
    expect(model.reservations(rich)).toEqual([expect.stringMatching(/^rsv_/)]);
    await settledAt(rich, PRICE);
    expect((await limitOf(rich)).overspend_micros).toMatchObject({ late: 0, unreserved: 0 });
    await expectDenial(await ask(envoy, poor));
    expect(model.reservations(poor)).toEqual([]);
  });
});

describe('behind Envoy with the access log over gRPC', () => {
  let authorized: ProxyProcess;
  let rateLimited: ProxyProcess;
  beforeAll(async () => {
    const [filter, log] = [await withFilterOfPage('grpc_service'), await withLogOfPage()];
    authorized = await envoyWith((settings) => log(filter(settings)));
    rateLimited = await envoyWith(log);
  });

  it.each([
    ['whole', {}],
    ['streamed', { stream: true, stream_options: { include_usage: true } }],
  ])('a %s call of external authorization is settled at its price', async (_how, more) => {
    const agent = await agentWith('ample');
    await (await ask(authorized, agent, more)).text();
    await settledAt(agent, PRICE);
    await countedCalls(agent, 1);
    expect((await limitOf(agent)).overspend_micros).toMatchObject({ late: 0, unreserved: 0 });
  });

  it('a call that the model refuses is released, and one that its caller leaves costs what was held', async () => {
    const [refused, left] = [await agentWith('ample'), await agentWith('ample')];
    expect((await ask(authorized, refused, { model: 'gpt-4o-fails' })).status).toBe(500);
    await settledAt(refused, 0);
    const leaving = new AbortController();
    const response = await ask(authorized, left, { model: 'gpt-4o-slow', stream: true }, { signal: leaving.signal });
    await response.body!.getReader().read();
    const { held_micros: held } = await limitOf(left);
    expect(held).toBeGreaterThan(0);
    leaving.abort();
    await settledAt(left, held);
  });

  it('64 calls at a time are all settled', async () => {
    const agent = await agentWith('ample');
    const answers = await Promise.all(Array.from({ length: 64 }, () => ask(authorized, agent)));
    await Promise.all(answers.map((response) => response.text()));
    const passed = answers.filter(({ status }) => status === 200).length;
    await settledAt(agent, passed * PRICE);
    await countedCalls(agent, passed);
  });

  it('a call of the rate limit service counts once, and also if Envoy could not ask', async () => {
    const agent = await agentWith('ample');
    await (await ask(rateLimited, agent)).text();
    await settledAt(agent, PRICE);
    const unasked = await envoyWith(await withoutQuestions());
    await (await ask(unasked, agent)).text();
    await eventually(async () => expect((await limitOf(agent)).overspend_micros['unreserved']).toBe(PRICE));
    await countedCalls(agent, 2);
  });
});

/** The settings with the access log alone. */
async function withoutQuestions() {
  const log = await withLogOfPage();
  return (settings: string) => log(settings).replace(RATE_LIMIT, '').replace(RATE_LIMITS_OF_ROUTE, '');
}

describe.each([
  // A call that is asked for again has the same id, so the room of its reservation is not lost.
  ['Traefik', startTraefik, LIMITS.dozen / ESTIMATE],
  ['nginx', startNginx, 1],
] as const)('behind %s, which asks before a call and reports none', (_name, start, least) => {
  const asks = (agent: string, more: object = {}, options: Asking = {}) =>
    ask(proxy, agent, more, { busy: [500, 503], callId: randomUUID(), ...options });
  let proxy: ProxyProcess;
  beforeAll(async () => {
    proxy = await start(surroundings);
    started.push(proxy);
    await asks(await agentWith('none'));
  });

  it('an answer streams, and a call whose caller leaves is released once its agent reports that it failed', async () => {
    const agent = await agentWith('ample');
    const leaving = new AbortController();
    const chosen = randomUUID();
    const slow = { model: 'gpt-4o-slow', stream: true };
    const { body: answer, headers } = await asks(agent, slow, { signal: leaving.signal, callId: chosen });
    // The model writes no more than this, and does not end its answer.
    expect(Buffer.from((await answer!.getReader().read()).value!).toString()).toContain('"Hel"');
    expect(await limitOf(agent)).toMatchObject({ held_micros: ESTIMATE, spent_micros: 0 });
    leaving.abort();
    await eventually(() => expect(model.left(agent)).toBe(1));
    await reportFailure(agent, headers.get('x-request-id') ?? chosen);
    await settledAt(agent, 0);
  });

  it('64 calls at a time pass as long as the budget has room for what each holds, and no further', async () => {
    const agent = await agentWith('dozen');
    const answers = await Promise.all(Array.from({ length: 64 }, () => asks(agent)));
    const denied = answers.filter(({ status }) => status === 429);
    expect(await limitOf(agent)).toMatchObject({ held_micros: LIMITS.dozen, spent_micros: 0 });
    const passed = model.reservations(agent).length;
    expect(passed).toBe(64 - denied.length);
    expect(passed).toBeLessThanOrEqual(LIMITS.dozen / ESTIMATE);
    expect(passed).toBeGreaterThanOrEqual(least);
    await expectDenial(denied[0]!);
  });
});

/** Reports that a call failed, as its agent does. */
async function reportFailure(agent: string, callId: string): Promise<void> {
  const texts = { 'tollkeeper.call_id': callId, 'gen_ai.operation.name': 'chat', 'gen_ai.agent.name': agent };
  const attributes = Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } }));
  const spans = [{ endTimeUnixNano: `${Date.now()}000000`, attributes, status: { code: 2 } }];
  const reported = await fetch(`${standalone.baseUrl}/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  expect(reported.status).toBe(200);
}
