import { afterAll, beforeAll } from '@jest/globals';
import { type AuditReader, createAuditReader } from '@tollkeeper/audit-trail/testing';
import { GATEWAY_EVENTS_TOPIC_OPTIONS, identityService, type IdentityServiceDefinition } from '@tollkeeper/contracts';
import { createMongoEventLog, type EventLog } from '@tollkeeper/event-log';
import { createGrpcClient, type GrpcClient } from '@tollkeeper/grpc';
import { CALLER_HEADER, CLIENT_HEADER, signCallerToken, signClientAddress } from '@tollkeeper/http';
import { type Caller, digestOf, newId, provenTenantId, type Role, type TenantId } from '@tollkeeper/kernel';
import { connectMongo, type MongoConnection } from '@tollkeeper/mongo';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import {
  CALLER_TOKEN_SECRET,
  expectMatchesOpenApi,
  type OpenApiDocument,
  testLogger,
  type TestMongo,
} from '@tollkeeper/testing';
import type { mongo as driver } from 'mongoose';
import supertest, { type Response } from 'supertest';
import { createIdentity, identityConfig, type IdentityService } from '../src/index.ts';

/** A document of any collection. Some have an object id, which no test needs. */
type Stored = driver.Document & { _id?: string };

export const PASSWORD = 'correct horse battery';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

export interface CallOptions {
  as?: Caller;
  cookie?: string | undefined;
  /** The whole header, instead of a session. */
  cookies?: string;
  address?: string;
  body?: unknown;
}

/** An owner of a workspace, as made by `identity.newOwner()`. */
export interface TestOwner {
  userId: string;
  email: string;
  tenantId: TenantId;
  slug: string;
  /** The caller of the owner's requests in the workspace, as the gateway sends it. */
  caller: Caller;
}

/** The identity service on a real mongod, with real sockets. Every answer is checked against its OpenAPI document. */
export function useIdentity(mongo: TestMongo, settings: Record<string, string> = {}) {
  const logs = testLogger();
  const clock = { now: Date.parse('2026-11-21T18:00:00.000Z') };
  const database = mongo.newDatabase();
  const logDatabase = mongo.newDatabase();
  let count = 0;
  let logConnection: MongoConnection;
  let eventLog: EventLog;
  let audit: AuditReader;
  let service: IdentityService;
  let client: GrpcClient<IdentityServiceDefinition>;
  let document: OpenApiDocument;

  function newReplica(own: Record<string, string> = {}): IdentityService {
    return createIdentity({
      config: loadConfig(identityConfig, {
        HOST: '127.0.0.1',
        HTTP_PORT: '0',
        GRPC_PORT: '0',
        MONGODB_URI: mongo.uri,
        MONGODB_DATABASE: database,
        CALLER_TOKEN_SECRET,
        PUBLIC_URL: 'https://tollkeeper.test',
        ...settings,
        ...own,
      }),
      logger: logs.logger,
      metrics: createMetrics('identity'),
      eventLog,
      clock: () => clock.now,
      mailIntervalMs: 50,
    });
  }

  async function startService(): Promise<void> {
    service = newReplica();
    await service.start();
    client = createGrpcClient(identityService, service.grpcAddress, {
      config: { CALLER_TOKEN_SECRET },
    });
    document = (await supertest(service.httpUrl).get('/openapi.json')).body as OpenApiDocument;
  }

  async function stopService(): Promise<void> {
    await client.stop();
    await service.stop();
  }

  beforeAll(async () => {
    logConnection = connectMongo({ uri: mongo.uri, database: logDatabase, logger: logs.logger });
    const { connection } = logConnection;
    eventLog = createMongoEventLog({
      connection,
      logger: logs.logger,
      metrics: createMetrics('log'),
    });
    await logConnection.start();
    await eventLog.start();
    await eventLog.ensureTopic(GATEWAY_EVENTS_TOPIC_OPTIONS);
    audit = createAuditReader(eventLog);
    await audit.start();
    await startService();
  });
  afterAll(async () => {
    await stopService();
    await audit.stop();
    await eventLog.stop();
    await logConnection.stop();
  });

  async function call(method: Method, path: string, options: CallOptions = {}): Promise<Response> {
    const request = supertest(service.httpUrl)[method](path);
    if (options.as !== undefined)
      request.set(CALLER_HEADER, await signCallerToken(CALLER_TOKEN_SECRET, 'identity', options.as));
    if (options.cookie !== undefined) request.set('cookie', `gw_session=${options.cookie}`);
    if (options.cookies !== undefined) request.set('cookie', options.cookies);
    // Each call comes from a network of its own, so that tests do not share limits.
    count += 1;
    const address = options.address ?? `2001:db8:1:${count.toString(16)}::1`;
    request.set(CLIENT_HEADER, await signClientAddress(CALLER_TOKEN_SECRET, 'identity', address));
    const response = await (options.body === undefined ? request : request.send(options.body as object));
    const body = [204, 302].includes(response.status) ? undefined : (response.body as unknown);
    expectMatchesOpenApi(document, { method, path, status: response.status, body });
    return response;
  }

  const login = (email: string, password = PASSWORD, options: CallOptions = {}) =>
    call('post', '/api/v1/auth/login', { ...options, body: { email, password } });

  async function newOwner(): Promise<TestOwner> {
    const unique = newId('user').slice(5).toLowerCase();
    const [email, slug] = [`${unique}@example.com`, `w-${unique}`.slice(0, 22)];
    const workspace = { slug, name: 'Research' };
    const { userId, tenantId } = await service.ensureOwner({ email, password: PASSWORD, workspace });
    return { userId, email, tenantId, slug, caller: { userId, tenantId, role: 'owner' } };
  }

  /** The token of a new invitation. */
  async function invite(owner: TestOwner, role: Role, email: string): Promise<string> {
    const { body } = await call('post', '/api/v1/invitations', { as: owner.caller, body: { email, role } });
    return new URL((body as { url: string }).url).hash.slice(1);
  }

  const accept = (token: string, options: CallOptions = {}) =>
    call('post', `/api/v1/invitations/${token}:accept`, { body: {}, ...options });

  return {
    database,
    audited: (tenantId: TenantId, count: number) => audit.records(tenantId, count),
    logs,
    clock,
    call,
    login,
    newOwner,
    collection: (name: string) => mongo.connection.useDb(database).collection<Stored>(name),
    command: (command: object) => mongo.connection.useDb(database).db!.command(command),
    logCollection: (name: string) => mongo.connection.useDb(logDatabase).collection(name),
    client: () => client,
    ready: () => service.ready?.(),
    impaired: () => service.impaired?.(),
    eventLog: () => eventLog,
    ensureOwner: (owner: Parameters<IdentityService['ensureOwner']>[0]) => service.ensureOwner(owner),
    /** Resolves the session of a cookie as the gateway does. */
    resolve: async (cookie: string) =>
      (await client.resolveSession({ sessionSha256: Buffer.from(digestOf(cookie), 'hex') })).session,
    invite,
    accept,
    /** A new user, who has accepted an invitation of the owner and logs in with `login_name` and {@link PASSWORD}. */
    async addMember(owner: TestOwner, role: Role, email = `${newId('user').slice(5).toLowerCase()}@example.com`) {
      const { body } = await accept(await invite(owner, role, email), { body: { name: 'Ada', password: PASSWORD } });
      const { id, login_name } = (body as { user: { id: string; login_name: string } }).user;
      return { user_id: id, login_name, email, role };
    },
    async restart() {
      await stopService();
      await startService();
    },
    stopService,
    startService,
    /** A second instance of the service on the same database, not started. */
    newReplica,
  };
}

/** The `Set-Cookie` headers of an answer. */
export function setCookieOf(response: Response): string[] {
  return [response.get('set-cookie') ?? []].flat();
}

/** The session cookie that an answer sets. */
export function cookieOf(response: Response): string {
  return /gw_session=([^;]*)/.exec(setCookieOf(response).join())?.[1] ?? '';
}

export function foreignCaller(role: Role = 'owner'): Caller {
  return { userId: newId('user'), tenantId: provenTenantId(newId('ws')), role };
}
