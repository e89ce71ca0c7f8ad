import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fleet, NODE_FLAGS, startFleet } from '@tollkeeper/fleet';
import type { ServiceName } from '@tollkeeper/topology';
import { DAILY_BUDGETS } from './deciders/call.ts';
import type { DeciderSettings } from './deciders/decider.settings.ts';
import type { DecisionLoad, DecisionResult } from './decision.load.ts';
import { logIn, makeBudgetedWorkspaces, makeTeamBudgets } from './enforcer.workspaces.ts';
import { redisVersion, startRedis } from './redis.process.ts';
import { askServer, startServer } from './server.process.ts';
import type { DecisionRequest } from './servers/decision.worker.ts';

/** A decider, with its processes and its callers. */
export interface Contender {
  name: string;
  settings: DeciderSettings;
  /** Processes of the decider. Empty if the callers decide themselves. */
  servicePids: number[];
  usesMongo: boolean;
  callers: Callers;
}

/** Callers of a decider, in a separate process. */
export interface Callers {
  readonly pid: number;
  run(load: DecisionLoad): Promise<DecisionResult>;
  /** Releases all reservations. */
  free(callers: number): Promise<void>;
  stop(): Promise<void>;
}

export interface EnforcerStack {
  mongodPid: number;
  kafkaPid: number;
  /** Null if this machine has no `redis-server`. */
  redisVersion: string | null;
  contenders: Contender[];
  /** The gRPC contenders with only one running replica: by single calls, in batches and over a stream. */
  keepOneReplica(): Promise<{ byCall: Contender; inBatches: Contender; onStream: Contender; pid: number }>;
  stop(): Promise<void>;
}

export const ONE_REPLICA = 'gRPC, 1 replica';
export const THREE_REPLICAS = 'gRPC, 3 replicas';
export const ONE_REPLICA_BATCHES = 'gRPC in batches, 1 replica';
export const ONE_REPLICA_STREAM = 'gRPC stream, 1 replica';
export const THREE_REPLICAS_BATCHES = 'gRPC in batches, 3 replicas';
export const EIGHT_BUDGETS = 'gRPC, 1 replica, 8 budgets';
export const MANY_BUDGETS = 'gRPC, 1 replica, 8 of 200 budgets, each for 10,000 users';
export const RATE_LIMIT = "Envoy's rate limit service, 1 replica";
/** Five budgets for each team, besides the three daily ones. */
const TEAM_BUDGETS = [
  { name: EIGHT_BUDGETS, each: null, budgets: { limits: 8, teams: 1, users: 1 } },
  { name: MANY_BUDGETS, each: 'label:user', budgets: { limits: 8, teams: 40, users: 10_000 } },
];
const REDIS = 'Redis, Lua script, appendfsync ';
export const REDIS_ALWAYS = `${REDIS}always`;

/** Far above what any machine achieves, so that a workspace's quota is not measured. */
const QUOTA = '10000000';
/** Services that would only take processor time. */
const NOT_ASKED: ServiceName[] = ['dashboard', 'alerts', 'notifier', 'ingest'];

/** A fleet with three replicas of the enforcer, its contenders, and callers for each. */
export async function startEnforcerStack(workspaceCount: number): Promise<EnforcerStack> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const undo of stops.splice(0).toReversed()) await undo();
  };
  try {
    const dataDirectory = await mkdtemp(join(tmpdir(), 'tollkeeper-bench-enforcer-'));
    stops.push(() => rm(dataDirectory, { recursive: true }));
    const fleet = await startFleet({
      dataDirectory,
      env: { LOG_LEVEL: 'warn', WORKSPACE_CALLS_PER_SECOND: QUOTA, WORKSPACE_BURST_CALLS: QUOTA },
      onProgress: (line) => console.error(line),
    });
    stops.push(() => fleet.stop());
    if (fleet.mongo === null) throw new Error('The benchmark needs the managed MongoDB');
    const mongodbUri = fleet.mongo.uri;
    const send = await logIn(fleet);
    const workspaces = await makeBudgetedWorkspaces(send, workspaceCount);
    await Promise.all(NOT_ASKED.flatMap((service) => fleet.services[service].map((replica) => replica.stop())));
    const more = [await fleet.addReplica('enforcer'), await fleet.addReplica('enforcer')];
    const replicas = fleet.services.enforcer;
    const [[first], [workspace]] = [replicas, workspaces];
    if (first === undefined || workspace === undefined) throw new Error('There is nothing to ask');

    const contenders: Contender[] = [];
    const add = async (name: string, settings: DeciderSettings, servicePids: number[], usesMongo = true) => {
      const callers = await startCallers(settings);
      stops.push(callers.stop);
      contenders.push({ name, settings, servicePids, usesMongo, callers });
    };
    const { tenantId, apiKey } = workspace;
    const pids = replicas.map(({ pid = 0 }) => pid);
    const [one, onePid] = [[first.grpcAddress], pids.slice(0, 1)];
    const byCall = { kind: 'grpc', addresses: one, budgets: DAILY_BUDGETS } as const;
    await add(ONE_REPLICA, { ...byCall, apiKeys: [apiKey] }, onePid);
    await add(RATE_LIMIT, { kind: 'rate-limit', addresses: one, apiKey }, onePid);
    for (const { name, each, budgets } of TEAM_BUDGETS) {
      const { apiKey: ofTeams } = await makeTeamBudgets(send, `teams-${budgets.teams}`, each, budgets);
      await add(name, { ...byCall, apiKeys: [ofTeams], budgets }, onePid);
    }
    const addresses = replicas.map(({ grpcAddress }) => grpcAddress);
    await add(THREE_REPLICAS, { ...byCall, addresses, apiKeys: [apiKey] }, pids);
    await add(ONE_REPLICA_BATCHES, { kind: 'grpc-batches', addresses: one, apiKey }, onePid);
    await add(ONE_REPLICA_STREAM, { kind: 'grpc-stream', address: first.grpcAddress, apiKey }, onePid);
    await add(THREE_REPLICAS_BATCHES, { kind: 'grpc-batches', addresses, apiKey }, pids);
    const apiKeys = workspaces.map((each) => each.apiKey);
    await add(`${ONE_REPLICA}, ${apiKeys.length} workspaces`, { ...byCall, apiKeys }, onePid);
    const edgePids = [...fleet.services.gateway.map(({ pid = 0 }) => pid), ...onePid];
    await add('edge: gateway, HTTP, 1 replica', { kind: 'edge', baseUrl: fleet.baseUrl, apiKey }, edgePids);
    const env = await engineEnvironment(fleet, dataDirectory, mongodbUri);
    await add('in the process of its callers', { kind: 'engine', env, tenantId }, []);
    await add('conditional update of one document', { kind: 'document', uri: mongodbUri }, []);
    await add('transaction over three accounts', { kind: 'transaction', uri: mongodbUri }, []);
    const version = redisVersion();
    for (const appendfsync of version === null ? [] : (['always', 'everysec'] as const)) {
      const redis = await startRedis(appendfsync);
      stops.push(redis.stop);
      await add(`${REDIS}${appendfsync}`, { kind: 'redis', port: redis.port }, [redis.pid], false);
    }

    return {
      mongodPid: fleet.mongo.pid,
      kafkaPid: fleet.kafka?.pid ?? 0,
      redisVersion: version,
      contenders,
      async keepOneReplica() {
        const find = (wanted: string) => contenders.find(({ name }) => name === wanted)!;
        const [byCall, inBatches, onStream] = [ONE_REPLICA, ONE_REPLICA_BATCHES, ONE_REPLICA_STREAM].map(find);
        const kept = { byCall: byCall!, inBatches: inBatches!, onStream: onStream! };
        const others = contenders.filter((each) => !Object.values(kept).includes(each));
        await Promise.all([...others.map(({ callers }) => callers.stop()), ...more.map((replica) => replica.stop())]);
        return { ...kept, pid: pids[0]! };
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function engineEnvironment(
  { services }: Fleet,
  dataDirectory: string,
  mongodbUri: string,
): Promise<Record<string, string>> {
  const grpcOf = (service: ServiceName): string => services[service][0]?.grpcAddress ?? '';
  return {
    ...{ HOST: '127.0.0.1', HTTP_PORT: '0', GRPC_PORT: '0', MONGODB_URI: mongodbUri, MONGODB_DATABASE: 'bench_engine' },
    CALLER_TOKEN_SECRET: (await readFile(join(dataDirectory, 'caller-token.secret'), 'utf8')).trim(),
    ...{ KEYS_GRPC: grpcOf('keys'), BUDGETS_GRPC: grpcOf('budgets'), IDENTITY_GRPC: grpcOf('identity') },
    DASHBOARD_GRPC: grpcOf('dashboard'),
  };
}

/** Callers of a decider in a process of their own. */
export async function startCallers(settings: DeciderSettings): Promise<Callers> {
  const env = { DECIDER: JSON.stringify(settings) };
  const server = await startServer('decision.worker.ts', env, NODE_FLAGS);
  const ask = (request: DecisionRequest) => askServer(server, request);
  return {
    pid: server.process.pid ?? 0,
    run: async (load) => (await ask({ run: load })) as DecisionResult,
    free: async (callers) => void (await ask({ free: callers })),
    stop: server.stop,
  };
}
