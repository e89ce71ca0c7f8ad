import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { PauseMessage } from '@tollkeeper/contracts';
import { newId } from '@tollkeeper/kernel';
import { eventually, useMongo } from '@tollkeeper/testing';
import supertest from 'supertest';
import type { Body } from './enforcer.stack.ts';
import { cost, COUNTS_MS, denialOf, HOUR_MS, LEASES, useLeases } from './leases.stack.ts';
import { createStreamGateway } from './stream.gateway.ts';

const stack = useLeases(useMongo(), { replicas: 2 });
const { budgets, clock } = stack;

type Workspace = ReturnType<typeof stack.newWorkspace>;

const paused = (what: Partial<PauseMessage> = {}): PauseMessage => ({
  ...{ id: 'pau_1', scope: 'agent', value: 'planner', createdAt: clock.now, until: clock.now + HOUR_MS },
  ...{ reason: 'Loops since 14:00', pausedBy: 'Zoë Nowak' },
  ...what,
});

/** Pauses calls, and lets the time pass after which every replica knows. */
function pause({ tenantId }: Workspace, ...all: Partial<PauseMessage>[]): void {
  budgets.setPauses(tenantId, ...all.map(paused));
  clock.now += COUNTS_MS;
}

function newWorkspace(...all: Partial<PauseMessage>[]): Workspace {
  const workspace = stack.newWorkspace();
  pause(workspace, ...all);
  return workspace;
}

const denials = (workspace: Workspace) => workspace.events('budget.blocked').map(({ data }) => data as Body);

const UNTIL = new Date(clock.now + HOUR_MS).toISOString();
const SENTENCE = `is paused until ${UNTIL} by Zoë Nowak: "Loops since 14:00". To resume it sooner, ask Zoë Nowak, or an owner or admin of the workspace.`;

describe('a pause', () => {
  it('denies with its code, and says who paused what, until when, why, and whom to ask', async () => {
    const workspace = newWorkspace({});
    expect(await workspace.reserve(7)).toMatchObject({
      status: 200,
      body: { decision: 'denied', limits: [] },
    });
    expect(denialOf(await workspace.reserve(7))).toEqual({
      ...{ code: 'paused', pause_id: 'pau_1', pause_reason: 'Loops since 14:00' },
      ...{ scope: 'agent', scope_id: 'planner', budget_id: 'bud_agent.planner', budget_name: 'Agent planner' },
      ...{ daily_budget_usd_micros: 0, limit_micros: 0, spent_micros: 0, held_micros: 0, requested_micros: 7 },
      period: { kind: 'once', start: new Date(clock.now - COUNTS_MS).toISOString(), end: UNTIL },
      resets_at: UNTIL,
      message: `Agent planner ${SENTENCE}`,
    });
  });

  it.each([
    ['an agent', { scope: 'agent', value: 'coder' }, { agent_id: 'coder' }],
    ['a label', { scope: 'label:team', value: 'growth' }, { labels: { team: 'growth' } }],
    ['a label with an odd name', { scope: 'label:constructor', value: '✂' }, { labels: { constructor: '✂' } }],
  ])('of %s denies its calls, and no others', async (_what, what, asked) => {
    const [workspace, other] = [newWorkspace(what), stack.newWorkspace()];
    expect(await workspace.decision(asked)).toBe('denied');
    const others = [
      {},
      { agent_id: 'growth', labels: { team: 'coder', user: 'growth' } },
      { labels: { team: 'grow' } },
    ];
    for (const allowed of others) expect(await workspace.decision(allowed)).toBe('allowed');
    expect(await other.decision(asked)).toBe('allowed');
  });

  it('of a label counts whoever gives the label: the key, the agent or the call', async () => {
    const ofKey = stack.newWorkspace(undefined, { team: 'growth' });
    const ofAgent = stack.newWorkspace();
    stack.identity.setLabels(ofAgent.tenantId, 'planner', { team: 'growth' });
    for (const workspace of [ofKey, ofAgent]) {
      pause(workspace, { scope: 'label:team', value: 'growth' });
      expect(denialOf(await workspace.reserve(1))).toMatchObject({
        ...{ scope: 'workspace', scope_id: workspace.tenantId, budget_id: 'bud_workspace' },
        message: expect.stringContaining('Label team growth is paused'),
      });
    }
    expect(await ofAgent.decision({ agent_id: 'coder' })).toBe('allowed');
  });

  it('counts at every replica within two seconds, and its end as well', async () => {
    const workspace = stack.newWorkspace();
    for (const replica of [0, 1]) expect(await workspace.decision({}, replica)).toBe('allowed');
    pause(workspace, {});
    for (const replica of [0, 1]) expect(await workspace.decision({}, replica)).toBe('denied');
    pause(workspace);
    for (const replica of [0, 1]) expect(await workspace.decision({}, replica)).toBe('allowed');
  });

  it('ends at its time, to the millisecond, and until then it outlasts a failure of budgets', async () => {
    const workspace = newWorkspace({});
    expect(await workspace.decision()).toBe('denied');
    budgets.state.down = true;
    clock.now += HOUR_MS - COUNTS_MS - 1;
    expect(await workspace.decision()).toBe('denied');
    clock.now += 1;
    expect(await workspace.decision()).toBe('allowed');
  });

  it('of several is the one that ends last, and it denies before any limit does', async () => {
    const workspace = newWorkspace(
      { id: 'pau_short', until: clock.now + HOUR_MS / 2 },
      { id: 'pau_long', scope: 'label:team', value: 'growth' },
      { id: 'pau_other', scope: 'label:team', value: 'sales', until: clock.now + 2 * HOUR_MS },
      { id: 'pau_newer', scope: 'model', value: 'large-1', until: clock.now + 2 * HOUR_MS },
    );
    budgets.setWorkspace(workspace.tenantId, 0);
    clock.now += COUNTS_MS;
    const asked = { amount_micros: 1, model: 'large-1', labels: { team: 'growth' } };
    expect(denialOf(await workspace.reserve(asked))).toMatchObject({ code: 'paused', pause_id: 'pau_long' });
    pause(workspace);
    expect(denialOf(await workspace.reserve(asked))).toMatchObject({ code: 'budget_exceeded', scope: 'workspace' });
  });

  it('leaves what was granted: a repeat, a settlement, and the spend of events count', async () => {
    const workspace = stack.newWorkspace(100);
    const asked = { request_id: 'req-1', amount_micros: 10 };
    const { id } = await workspace.granted(asked);
    pause(workspace, {});
    expect(await workspace.granted(asked)).toMatchObject({ id, state: 'held' });
    expect((await workspace.extend(id, 900)).status).toBe(200);
    expect((await workspace.settle(id, 7)).body).toMatchObject({ state: 'settled', settled_micros: 7 });
    await workspace.spend({ amount_micros: 20 });
    await stack.posted();
    expect(await workspace.limit()).toMatchObject({ spent_micros: 27, held_micros: 0 });
  });

  it('is in the events of the denials and in a counter, but a dry run is not', async () => {
    const workspace = newWorkspace({});
    const before = await stack.counted('enforcer_decisions_total', 'paused');
    await workspace.reserve({ amount_micros: 1, dry_run: true });
    expect(denials(workspace)).toEqual([]);
    await workspace.reserve({ amount_micros: 3, run_id: 'run-9' });
    expect(denials(workspace)).toEqual([
      {
        ...{ run_id: 'run-9', agent_id: 'planner', scope: 'agent', requested_micros: 3 },
        ...{ spent_micros: 0, held_micros: 0, daily_budget_usd_micros: 0 },
        ...{ code: 'paused', pause_id: 'pau_1', pause_reason: 'Loops since 14:00' },
      },
    ]);
    expect(await stack.counted('enforcer_decisions_total', 'paused')).toBe(before + 1);
    pause(workspace, { id: 'pau_2' });
    await workspace.reserve(1);
    expect(denials(workspace).map(({ pause_id }) => pause_id)).toEqual(['pau_1', 'pau_2']);
  });
});

describe('a paused key is denied', () => {
  const gateways: { close(): void }[] = [];
  afterAll(() => gateways.forEach((gateway) => gateway.close()));

  function withPausedKey(): Workspace {
    const workspace = stack.newWorkspace();
    pause(workspace, { scope: 'key', value: workspace.keyId });
    return workspace;
  }
  const message = ({ keyId }: Workspace) => expect.stringContaining(`Workspace key ${keyId} ${SENTENCE}`);
  const fixture = (file: string) => readFileSync(join(import.meta.dirname, 'fixtures', `${file}.json`), 'utf8');
  const again = <Answer extends Body>(ask: () => Promise<Answer>) =>
    eventually(async () => {
      const answer = await ask();
      if (answer['status'] !== 'UNAVAILABLE' && answer['status'] !== 503) return answer;
      stack.passRetryAfter();
      throw new Error(JSON.stringify(answer));
    });
  const rpc = (workspace: Workspace, name: Parameters<Workspace['rpc']>[0], request: object) =>
    again(() => workspace.rpc(name, request));
  const hook = ({ apiKey }: Workspace, path: string, body: string, headers: Record<string, string> = {}) =>
    again(async () => {
      const request = supertest(stack.httpUrl()).post(`/api/v1/adapters/${path}`).set('x-api-key', apiKey);
      const { status, body: answered } = await request
        .set({ 'content-type': 'application/json', ...headers })
        .send(body);
      return { status, ...(answered as Body) };
    });
  const request = () => ({ requestId: newId('req'), agentId: 'planner', runId: 'run-1', amountMicros: 1 });
  const body = () => ({ request_id: newId('req'), agent_id: 'planner', amount_micros: 9, min_micros: 1 });

  it('over HTTP and gRPC, alone, in a batch and in a stream', async () => {
    const workspace = withPausedKey();
    const inHttp = { code: 'paused', pause_id: 'pau_1', scope: 'workspace', message: message(workspace) };
    const inGrpc = { code: 'paused', pauseId: 'pau_1', pauseReason: 'Loops since 14:00', message: message(workspace) };
    expect(denialOf(await workspace.reserve(1))).toMatchObject(inHttp);
    expect(denialOf(await workspace.call('post', LEASES, { body: body() }))).toMatchObject(inHttp);
    expect(await rpc(workspace, 'Reserve', request())).toMatchObject({ denied: inGrpc });
    expect(await rpc(workspace, 'GrantLease', { ...request(), minMicros: 1 })).toMatchObject({ denied: inGrpc });
    expect(await rpc(workspace, 'ReserveMany', { requests: [request()] })).toMatchObject({
      results: [{ response: { denied: inGrpc } }],
    });
    const gateway = createStreamGateway(stack.grpcAddress(), workspace.apiKey, 60_000);
    gateways.push(gateway);
    const streamed = await eventually(() =>
      gateway.ask({ reserve: request() }).catch((error: unknown) => {
        stack.passRetryAfter();
        throw error;
      }),
    );
    expect(streamed).toMatchObject({ response: { denied: inGrpc } });
    pause(workspace, { scope: 'key', value: stack.keys.issue().keyId });
    expect(await workspace.decision()).toBe('allowed');
  });

  it('through proxies: by the rate limit service and both external authorizations', async () => {
    const workspace = withPausedKey();
    const entries = Object.entries({ tollkeeper: 'reserve', agent: 'planner', call: newId('req'), run: 'run-1' });
    const descriptors = [{ entries: entries.map(([key, value]) => ({ key, value })) }];
    const limited = await rpc(workspace, 'ShouldRateLimit', { domain: 'tollkeeper', descriptors });
    const error = { error: { message: message(workspace), type: 'paused', param: null, code: 'paused' } };
    expect(limited['overallCode']).toBe('OVER_LIMIT');
    expect(JSON.parse((limited['rawBody'] as Buffer).toString())).toEqual(error);
    const headers = { 'x-tollkeeper-agent': 'planner', 'x-tollkeeper-estimate-micros': '5' };
    const checked = await rpc(workspace, 'Check', { attributes: { request: { http: { headers, body: '{}' } } } });
    const { deniedResponse } = checked as { deniedResponse: { status: Body; body: string } };
    expect([deniedResponse.status, JSON.parse(deniedResponse.body)]).toEqual([{ code: 'TooManyRequests' }, error]);
    expect(await hook(workspace, 'authz', '{}', headers)).toEqual({ status: 429, ...error });
  });

  it('through the hooks of LiteLLM and Portkey', async () => {
    const workspace = withPausedKey();
    const litellm = fixture('litellm-1.106.2-guardrail-request');
    expect(await hook(workspace, 'litellm/beta/litellm_basic_guardrail_api', litellm)).toEqual({
      ...{ status: 200, action: 'BLOCKED', blocked_reason: message(workspace) },
    });
    const portkey = fixture('portkey-1.15.2-webhook-before');
    const answer = await hook(workspace, 'portkey/before', portkey, { authorization: `Bearer ${workspace.apiKey}` });
    expect(answer).toMatchObject({ status: 200, verdict: false });
    expect(JSON.stringify(answer)).toContain(`Workspace key ${workspace.keyId} is paused`);
  });
});

describe('an open lease whose calls are paused', () => {
  const held = async (workspace: Workspace) => (await workspace.limit())['held_micros'];

  it('is returned by its next settlement, which counts from it; later ones are late', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(100);
    const other = await workspace.leased(50, { agent_id: 'coder' });
    pause(workspace, {});
    expect(await workspace.readLease(id)).toMatchObject({ state: 'open', left_micros: 100 });
    expect((await workspace.settleFrom(id, [cost(30, 'stl-1')])).body).toMatchObject({
      lease: { state: 'returned', settled_micros: 30, left_micros: 0, expires_in_ms: 0 },
      results: [{ settlement_id: 'stl-1', outcome: 'settled' }],
    });
    expect((await workspace.settleFrom(other.id, [cost(1)])).body).toMatchObject({ lease: { state: 'open' } });
    expect(await held(workspace)).toBe(49);
    const late = await workspace.settleFrom(id, [cost(30, 'stl-1'), cost(5, 'stl-2')], { replica: 1 });
    expect(late.body).toMatchObject({
      lease: { state: 'returned' },
      results: [{ outcome: 'settled' }, { outcome: 'late' }],
    });
    expect(await workspace.limit()).toMatchObject({ spent_micros: 36, overspend_micros: { late: 5 } });
    expect(denialOf(await workspace.lease({ amount_micros: 100 }))).toMatchObject({ code: 'paused' });
    await stack.restart(1);
    expect(await workspace.readLease(id, { replica: 1 })).toMatchObject({ state: 'returned' });
  });

  it('is returned by a renewal, also one that is repeated', async () => {
    const workspace = stack.newWorkspace(1_000);
    const { id } = await workspace.leased(100);
    const again = { request_id: 'renewal-1' };
    expect((await workspace.renew(id, 200, again)).body).toMatchObject({ state: 'open', amount_micros: 200 });
    pause(workspace, { scope: 'key', value: workspace.keyId });
    expect((await workspace.renew(id, 200, again)).body).toMatchObject({ state: 'returned', left_micros: 0 });
    expect(await held(workspace)).toBe(0);
    expect((await workspace.renew(id, 300)).body).toMatchObject({ code: 'conflict' });
  });
});
