import { keysService, budgetsService, identityService } from '@tollkeeper/contracts';
import type { EventLog } from '@tollkeeper/event-log';
import { createGrpcClient, createGrpcServer } from '@tollkeeper/grpc';
import { createHttpServer } from '@tollkeeper/http';
import { connectMongo, explainOutage } from '@tollkeeper/mongo';
import {
  assembleService,
  type Component,
  type ServesHttp,
  type ServesGrpc,
  type ServiceDeps,
} from '@tollkeeper/runtime';
import type { EnforcerConfig } from './config.ts';

export interface EnforcerDeps extends ServiceDeps<EnforcerConfig> {
  /** Started before the service and stopped after it. */
  eventLog: EventLog;
}

/** Grants spend before a call, so that budgets hold. Addresses are valid once started. */
export type EnforcerService = Component & ServesHttp & ServesGrpc;

export function createEnforcer(deps: EnforcerDeps): EnforcerService {
  const { config, logger } = deps;
  const mongo = connectMongo({ uri: config.MONGODB_URI, database: config.MONGODB_DATABASE, logger });
  const keys = createGrpcClient(keysService, config.KEYS_GRPC, deps);
  const budgets = createGrpcClient(budgetsService, config.BUDGETS_GRPC, deps);
  const identity = createGrpcClient(identityService, config.IDENTITY_GRPC, deps);
  const http = createHttpServer({
    ...deps,
    routes: [],
    service: 'enforcer',
    title: 'Tollkeeper enforcer',
    explain: explainOutage,
  });
  const grpc = createGrpcServer({ ...deps, services: [], explain: explainOutage, ready: () => mongo.ping() });
  return assembleService({ name: 'enforcer', logger, parts: [mongo, keys, budgets, identity], grpc, http });
}
