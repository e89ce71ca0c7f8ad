import { afterEach, describe, expect, it } from '@jest/globals';
import { AppError } from '@tollkeeper/kernel';
import { eventually } from '@tollkeeper/testing';
import { createStreamGateway } from './stream.gateway.ts';
import { useTransports } from './transports.fixture.ts';
import { held, heldMessage, row, rowMessage, settled, settledMessage } from './transports.samples.ts';

const CALLS_PER_SECOND = 20;
/** How long an answer about a key is kept. */
const KEY_MS = 5_000;

const answers = {
  decision: { decision: 'allowed', reservation: held, limits: [row] },
  reservation: settled,
  view: { day: { start: 0, end: 1, timezone: 'UTC' }, items: [] },
  page: { items: [], nextCursor: null },
} as const satisfies Parameters<typeof useTransports>[0];
const reserve = { requestId: 'req-1', agentId: 'agent-1', runId: 'run-1', amountMicros: 500 };
const release = { reservationId: 'rsv_1' };
const settle = { ...release, settlementId: 'stl-1', amountMicros: 7 };

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});
function connect(address: string, apiKey: string, deadlineMs = 60_000) {
  const gateway = createStreamGateway(address, apiKey, deadlineMs);
  cleanUps.push(gateway.close);
  return gateway;
}

describe('a stream of requests', () => {
  const { ports, issued, metrics, clock, callGrpc, grpcAddress } = useTransports({ ...answers }, CALLS_PER_SECOND);
  const open = ({ apiKey }: { apiKey: string }) => connect(grpcAddress(), apiKey);

  it('answers each request as its RPC does', async () => {
    const workspace = issued.issue();
    const { ask } = open(workspace);
    const asked = await Promise.all([ask({ reserve }), ask({ settle }), ask({ release })]);
    const response = { decision: 'allowed', allowed: { reservation: heldMessage }, limits: [rowMessage] };
    expect(asked).toMatchObject([
      { answer: 'response', response },
      { answer: 'reservation', reservation: settledMessage },
      { answer: 'reservation', reservation: settledMessage },
    ]);
    const overStream = ports.asked.splice(0);
    await callGrpc('Reserve', reserve, workspace.apiKey);
    await callGrpc('Settle', settle, workspace.apiKey);
    await callGrpc('Release', release, workspace.apiKey);
    expect(ports.asked).toEqual(overStream);
  });

  it('refuses a bad request alone, with the fields that are wrong', async () => {
    const { ask } = open(issued.issue());
    const [good, bad, none] = await Promise.allSettled([
      ask({ reserve }),
      ask({ reserve: { ...reserve, requestId: 'a b' } }),
      ask({}),
    ]);
    expect(good.status).toBe('fulfilled');
    expect(bad).toMatchObject({ reason: { code: 'invalid_request', details: [{ path: 'request_id' }] } });
    const path = { path: 'request', message: 'must be one of reserve, settle, release' };
    expect(none).toMatchObject({ reason: { code: 'invalid_request', details: [path] } });
  });

  it('says why a request was refused, without what its caller may not know, and counts each', async () => {
    const { ask } = open(issued.issue());
    ports.failure = new AppError('service_unavailable', 'A sentence.', { retryAfterSeconds: 3 });
    const refused = { code: 'service_unavailable', message: 'A sentence.', retryAfterSeconds: 3 };
    await expect(ask({ release })).rejects.toMatchObject(refused);
    ports.failure = new Error('connection string of the database');
    const failed = { code: 'internal', message: 'Something went wrong in the service.' };
    await expect(ask({ settle })).rejects.toMatchObject(failed);
    const { values } = await metrics.registry.getSingleMetric('grpc_server_batched_requests_total')!.get();
    const counted = (code: string) =>
      values.find(({ labels }) => labels['code'] === code && String(labels['method']).endsWith('/ReserveStream'))
        ?.value;
    expect([counted('UNAVAILABLE'), counted('INTERNAL')]).toEqual([1, 1]);
  });

  it('belongs to the workspace of its key, and opens for no key that may not reserve', async () => {
    const workspaces = [issued.issue(), issued.issue()];
    await Promise.all(workspaces.map((workspace) => open(workspace).ask({ release })));
    const tenants = workspaces.map(({ tenantId }) => tenantId);
    expect(ports.asked.map(([, tenantId]) => String(tenantId)).sort()).toEqual(tenants.sort());
    await expect(open(issued.issue('read_only')).ask({ release })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(open({ apiKey: 'ws_live_x' }).ask({ release })).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(ports.asked).toHaveLength(2);
  });

  it('refuses a key that was revoked while it is open, as soon as single calls do', async () => {
    const { apiKey, sha256 } = issued.issue();
    const { ask } = open({ apiKey });
    await ask({ release });
    issued.revoke(sha256);
    clock.now += KEY_MS;
    await ask({ release });
    clock.now += 1;
    await expect(ask({ release })).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(ask({})).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await callGrpc('Release', release, apiKey)).toMatchObject({ code: 'unauthenticated' });
  });

  it('shares the quota of single calls, and so does not keep reservations of others open', async () => {
    const { apiKey } = issued.issue();
    const { ask } = open({ apiKey });
    for (let calls = 0; calls < CALLS_PER_SECOND; calls += 1) await ask({ reserve });
    // A gateway waits for its quota as long as a request may take, and here the quota stays used up.
    const impatient = connect(grpcAddress(), apiKey, 3_000);
    await expect(impatient.ask({ reserve })).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    expect(await callGrpc('Reserve', reserve, apiKey)).toMatchObject({ code: 'rate_limited' });
    await expect(ask({ release })).resolves.toMatchObject({ answer: 'reservation' });
    await expect(impatient.ask({})).rejects.toMatchObject({ code: 'rate_limited' });
    // Nor does a stream that opens only now.
    await expect(open({ apiKey }).ask({ release })).resolves.toMatchObject({ answer: 'reservation' });
  });

  it('ends for a message that is too large or has too many requests, and takes nothing of it', async () => {
    const huge = open(issued.issue()).raw();
    huge.stream.write({ requests: [{ tag: 1, reserve: { ...reserve, runId: 'x'.repeat(400 * 1024) } }] });
    expect(await huge.ended).toMatchObject({ status: 'RESOURCE_EXHAUSTED' });
    for (const count of [0, 51]) {
      const many = open(issued.issue()).raw();
      many.stream.write({ requests: Array.from({ length: count }, (_, tag) => ({ tag, release })) });
      const details = [{ path: 'requests', message: 'must be 1 to 50 requests' }];
      expect(await many.ended).toMatchObject({ status: 'INVALID_ARGUMENT', details });
    }
    expect(ports.asked).toEqual([]);
  });
});

describe('a stream of very many requests', () => {
  const { ports, issued, callGrpc, grpcAddress } = useTransports({ ...answers }, 1_000_000);
  const REQUESTS = 10_000;
  const MOST = 200;

  it('has 200 in progress, and makes the others wait', async () => {
    let go = (): void => {};
    ports.ready = new Promise((resolve) => (go = resolve));
    const { stream } = connect(grpcAddress(), issued.issue().apiKey).raw();
    for (let tag = 0; tag < REQUESTS; tag += 1) stream.write({ requests: [{ tag, release }] });
    await eventually(async () => expect(ports.asked).toHaveLength(MOST));
    // A call of somebody else comes through, and by then no further request was taken.
    const other = callGrpc('Release', release, issued.issue().apiKey);
    await eventually(async () => expect(ports.asked).toHaveLength(MOST + 1));
    go();
    expect(await other).toMatchObject({ reservation: settledMessage });
  });

  it('asks for all of them over one gateway, as they are answered', async () => {
    const { ask } = connect(grpcAddress(), issued.issue().apiKey, 600_000);
    const all = await Promise.all(Array.from({ length: REQUESTS }, () => ask({ release })));
    expect(all).toHaveLength(REQUESTS);
    await expect(Promise.all(Array.from({ length: REQUESTS + 1 }, () => ask({ release })))).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });
});
