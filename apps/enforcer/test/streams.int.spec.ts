import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { eventually, useMongo } from '@tollkeeper/testing';
import { useEnforcer } from './enforcer.stack.ts';
import { createStreamGateway } from './stream.gateway.ts';

const stack = useEnforcer(useMongo(), { replicas: 2 });
const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp();
});

const BUF = join(import.meta.dirname, '../../../node_modules/.bin/buf');
const CALLS = 200;
const AMOUNT = 10;

/** A gateway that repeats what could not be decided, as gateways do. */
function connectGateway(address: string, apiKey: string) {
  const gateway = createStreamGateway(address, apiKey, 60_000);
  cleanUps.push(gateway.close);
  type Call = Parameters<typeof gateway.ask>[0];
  const ask = (call: Call) =>
    eventually(() =>
      gateway.ask(call).catch((error: unknown) => {
        stack.passRetryAfter();
        throw error;
      }),
    );
  return { ask };
}

/** Passes connections on to the first replica, until `kill`: to the second one from then on. */
async function startSwitch() {
  const sockets = new Set<Socket>();
  let replica = 0;
  const server = createServer((socket) => {
    const [, port] = stack.grpcAddress(replica).split(':');
    const to = connect(Number(port), '127.0.0.1');
    for (const each of [socket, to]) sockets.add(each.on('error', () => undefined));
    socket.pipe(to).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  cleanUps.push(cut, () => server.close());
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    kill() {
      replica = 1;
      cut();
    },
  };
}

it('a gateway whose replica goes in the middle repeats its calls at another one, and nothing counts twice', async () => {
  const workspace = stack.newWorkspace();
  stack.budgets.setWorkspace(workspace.tenantId, CALLS * AMOUNT);
  const { address, kill } = await startSwitch();
  const { ask } = connectGateway(address, workspace.apiKey);
  const request = { agentId: 'planner', runId: 'run-1', amountMicros: AMOUNT };
  let answered = 0;
  const reserve = async (nth: number) => {
    const { response } = await ask({ reserve: { ...request, requestId: `call-${nth}` } });
    answered += 1;
    if (answered === CALLS / 4) kill();
    return response!.allowed!.reservation!.id;
  };
  const ids: string[] = [];
  const callers = Array.from({ length: 20 }, async (_, caller) => {
    for (let nth = caller; nth < CALLS; nth += 20) ids.push(await reserve(nth));
  });
  await Promise.all(callers);
  // The limit has room for each call once, and for none twice.
  expect(new Set(ids).size).toBe(CALLS);
  const { response } = await ask({ reserve: { ...request, requestId: 'call-more' } });
  expect(response?.denied).toMatchObject({ heldMicros: CALLS * AMOUNT, spentMicros: 0 });
  const settle = (reservationId: string) => ({
    reservationId,
    settlementId: `s-${reservationId}`,
    amountMicros: AMOUNT,
  });
  await Promise.all(ids.map((id) => ask({ settle: settle(id) })));
  const after = await ask({ reserve: { ...request, requestId: 'call-last' } });
  expect(after.response?.denied).toMatchObject({ heldMicros: 0, spentMicros: CALLS * AMOUNT });
});

it('a replica that stops answers what it has read of its streams', async () => {
  const workspace = stack.newWorkspace();
  const { address, kill } = await startSwitch();
  const { ask } = connectGateway(address, workspace.apiKey);
  const request = { agentId: 'planner', runId: 'run-1', amountMicros: 1 };
  await ask({ reserve: { ...request, requestId: 'first' } });
  const asked = Array.from({ length: 50 }, (_, nth) => ask({ reserve: { ...request, requestId: `r-${nth}` } }));
  const restarted = stack.restart(0);
  await restarted.then(kill);
  const answers = await Promise.all(asked);
  expect(answers.map(({ response }) => response?.allowed?.reservation?.state)).toEqual(
    Array(50).fill('RESERVATION_STATE_HELD'),
  );
  expect(stack.logs.text()).not.toContain('some RPCs did not finish in time');
});

it.each(['grpc-v1', 'grpc-v1alpha'])(
  'a tool without proto files learns by reflection (%s) how to ask the rate limit service, and asks it',
  async (protocol) => {
    const { apiKey } = stack.newWorkspace();
    const entries = Object.entries({ tollkeeper: 'reserve', agent: 'planner', call: protocol });
    const request = { descriptors: [{ entries: entries.map(([key, value]) => ({ key, value })) }] };
    const args = ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', '--reflect-protocol', protocol];
    const said = ['--header', `authorization: Bearer ${apiKey}`, '--data', JSON.stringify(request)];
    const url = `http://${stack.grpcAddress()}/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`;
    await eventually(async () => {
      stack.passRetryAfter();
      const { stdout } = await promisify(execFile)(BUF, [...args, ...said, url]);
      expect(JSON.parse(stdout)).toMatchObject({
        overallCode: 'OK',
        dynamicMetadata: { reservation_id: expect.stringMatching(/^rsv_/) },
      });
    });
  },
);
