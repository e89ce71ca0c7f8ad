import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { keysService } from '@tollkeeper/contracts';
import { createGrpcClient, createGrpcServer, type GrpcServer } from '@tollkeeper/grpc';
import { CALLER_HEADER, createHttpServer, type HttpListener, signCallerToken } from '@tollkeeper/http';
import { provenTenantId, type Role, type TenantId } from '@tollkeeper/kernel';
import { createMetrics } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  createKeysStandIn,
  createPeers,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
} from '@tollkeeper/testing';
import supertest from 'supertest';
import type { Decision, Limits, LimitsView, ReservationPage, Reservations } from '../src/domain/enforcement.ts';
import type { Lease, Leases } from '../src/domain/lease.ts';
import type { Reservation } from '../src/domain/reservation.ts';
import { createEnforcerHandlers, MAX_REQUEST_BYTES } from '../src/grpc/enforcer.handlers.ts';
import { createLeaseHandlers } from '../src/grpc/lease.handlers.ts';
import { createLeaseRoutes } from '../src/http/lease.routes.ts';
import { createLimitRoutes } from '../src/http/limit.routes.ts';
import { createReservationRoutes } from '../src/http/reservation.routes.ts';
import { createKeyAccess, type KeyAccess } from '../src/key.access.ts';
import { createGrpcCaller, type Rpc } from './grpc.caller.ts';

/** The answers of the ports, and the received calls: `[method, tenantId, …arguments]`. */
interface Ports {
  decision: Decision;
  reservation: Reservation;
  view: LimitsView;
  page: ReservationPage;
  /** Thrown instead of an answer. */
  failure: Error | undefined;
  /** Answers wait for this. */
  ready: Promise<void>;
  asked: unknown[][];
}

const LEASE: Lease = {
  ...{ id: 'lse_1', requestId: 'lease-1', agentId: 'planner', planKey: null, amountMicros: 100, settledMicros: 0 },
  ...{ leftMicros: 100, state: 'open', createdAt: 0, expiresAt: 60_000, expiresInMs: 60_000, model: null },
  ...{ provider: null, keyId: null, labels: {} },
};

export interface HttpCall {
  method: 'get' | 'post';
  path: string;
  body?: object;
  apiKey?: string;
  /** The role of a person with a session. */
  role?: Role;
  tenantId?: TenantId;
}

/** Both transports on real sockets, with ports that answer `ports`; a stand-in checks keys over real gRPC. */
export function useTransports(initial: Omit<Ports, 'failure' | 'ready' | 'asked'>, callsPerSecond: number) {
  const { logger } = testLogger();
  const metrics = createMetrics('enforcer');
  const issued = createKeysStandIn();
  const peers = createPeers(logger, [issued.service]);
  const refused = metrics.counter({ name: 'refused_total', help: 'Calls over the quota' });
  const clock = { now: 1_000 };
  const fresh = () => ({ ...initial, failure: undefined, ready: Promise.resolve(), asked: [] });
  const ports: Ports = fresh();
  let keys: ReturnType<typeof createGrpcClient<typeof keysService>>;
  let http: HttpListener;
  let grpc: GrpcServer;
  let caller: ReturnType<typeof createGrpcCaller>;
  let document: OpenApiDocument;

  function answer<T>(name: string, value: () => T) {
    return async (...asked: unknown[]): Promise<T> => {
      ports.asked.push([name, ...asked]);
      await ports.ready;
      if (ports.failure !== undefined) throw ports.failure;
      return value();
    };
  }
  const one = (name: string) => answer(name, () => ports.reservation);
  const reservations: Reservations = {
    reserve: answer('reserve', () => ports.decision),
    get: one('get'),
    settle: one('settle'),
    release: one('release'),
    extend: one('extend'),
  };
  const limits: Pick<Limits, 'view' | 'list' | 'listLeases'> = {
    view: answer('view', () => ports.view),
    list: answer('list', () => ports.page),
    listLeases: answer('listLeases', () => ({ items: [], nextCursor: null })),
  };
  const oneLease = (name: string) => answer(name, () => LEASE);
  const leases: Leases = {
    grant: answer('grantLease', () => ({ decision: 'allowed', lease: LEASE, limits: [] })),
    get: oneLease('getLease'),
    settle: answer('settleLease', () => ({ lease: LEASE, results: [] })),
    renew: oneLease('renewLease'),
    return: oneLease('returnLease'),
  };

  beforeAll(async () => {
    await peers.start();
    const config = {
      ...{ HOST: '127.0.0.1', HTTP_PORT: 0, GRPC_PORT: 0, CALLER_TOKEN_SECRET },
      ...{ WORKSPACE_CALLS_PER_SECOND: callsPerSecond, WORKSPACE_BURST_CALLS: callsPerSecond },
    };
    keys = createGrpcClient(keysService, peers.address, { config });
    const access: KeyAccess = createKeyAccess({ config, keys, logger, refused, now: () => clock.now });
    const { grpc: authenticator, chargeSettlements } = access;
    http = createHttpServer({
      config,
      logger,
      metrics,
      routes: [
        ...createReservationRoutes({ reservations, access: access.http }),
        ...createLimitRoutes({ limits, reservations }),
        ...createLeaseRoutes({ leases, limits, access: access.http, chargeSettlements }),
      ],
      name: 'enforcer',
    });
    grpc = createGrpcServer({
      config,
      logger,
      metrics,
      services: [
        createEnforcerHandlers({ reservations, authenticator }),
        createLeaseHandlers({ leases, authenticator, chargeSettlements }),
      ],
      maxRequestBytes: MAX_REQUEST_BYTES,
    });
    await http.start();
    await grpc.start();
    caller = createGrpcCaller(grpc.address);
    document = (await supertest(http.url).get('/openapi.json')).body as OpenApiDocument;
  });
  afterAll(async () => {
    caller.close();
    await grpc.stop();
    await http.stop();
    await keys.stop();
    await peers.stop();
  });
  beforeEach(() => {
    Object.assign(ports, fresh());
    clock.now += 60_000;
  });

  /** Every answer is checked against the OpenAPI document. */
  async function callHttp({ method, path, body, apiKey, role, tenantId = provenTenantId('ws_1') }: HttpCall) {
    const request = supertest(http.url)[method](path);
    if (apiKey !== undefined) request.set('authorization', `Bearer ${apiKey}`);
    if (role !== undefined) {
      const caller = { userId: 'user_1', tenantId, role };
      request.set(CALLER_HEADER, await signCallerToken(CALLER_TOKEN_SECRET, 'enforcer', caller));
    }
    const response = await (body === undefined ? request : request.send(body));
    const answered = { status: response.status, body: response.body as Record<string, unknown> };
    expectMatchesOpenApi(document, { method: method.toUpperCase(), path, ...answered });
    return { ...answered, retryAfter: response.headers['retry-after'] as string | undefined };
  }

  const callGrpc = (rpc: Rpc, request: object, apiKey?: string) => caller.call(rpc, request, apiKey);

  return { ports, issued, peers, metrics, clock, callHttp, callGrpc, grpcAddress: () => grpc.address };
}
