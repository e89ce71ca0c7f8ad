import { alertsConfig, createAlerts } from '@tollkeeper/alerts';
import { budgetsConfig, createBudgets } from '@tollkeeper/budgets';
import { createDashboard, dashboardConfig } from '@tollkeeper/dashboard';
import { createEnforcer, enforcerConfig } from '@tollkeeper/enforcer';
import { createConsole, consoleConfig } from '@tollkeeper/console';
import { createAudit, auditConfig } from '@tollkeeper/audit';
import type { EventLog } from '@tollkeeper/event-log';
import { createGateway, gatewayConfig } from '@tollkeeper/gateway';
import { createIdentity, identityConfig } from '@tollkeeper/identity';
import { createIngest, ingestConfig } from '@tollkeeper/ingest';
import { createKeys, keysConfig } from '@tollkeeper/keys';
import { createNotifier, notifierConfig, type NotifierDeps } from '@tollkeeper/notifier';
import { type Component, loadConfig, type Logger, type Metrics, type Tracer } from '@tollkeeper/runtime';
import type { ServiceName } from '@tollkeeper/topology';
import type { z } from 'zod';

/** The dependencies of every service besides its settings. */
interface PartDeps {
  logger: Logger;
  metrics: Metrics;
  tracer: Tracer | undefined;
  eventLog: EventLog;
  /** For the notifier. */
  ownDestinations: NonNullable<NotifierDeps['ownDestinations']>;
}

/** A service as a part of this process. The table of services says which servers it has. */
interface ServingComponent extends Component {
  readonly httpUrl?: string;
  readonly grpcAddress?: string;
}

export interface Part<S extends z.ZodObject = z.ZodObject, C extends ServingComponent = ServingComponent> {
  /** Its own settings; as a separate process, it also has those of the log. */
  config: S;
  /** Returns the service, not started yet. Throws the same errors about settings as a separate process. */
  create: (deps: PartDeps, environment: NodeJS.ProcessEnv) => C;
}

function part<S extends z.ZodObject, C extends ServingComponent>(
  config: S,
  create: (deps: PartDeps & { config: z.infer<S> }) => C,
): Part<S, C> {
  return { config, create: (deps, environment) => create({ ...deps, config: loadConfig(config, environment) }) };
}

/** The code of every service in the table: its settings and its factory. */
export const PARTS = {
  identity: part(identityConfig, createIdentity),
  keys: part(keysConfig, createKeys),
  ingest: part(ingestConfig, createIngest),
  budgets: part(budgetsConfig, createBudgets),
  dashboard: part(dashboardConfig, createDashboard),
  alerts: part(alertsConfig, createAlerts),
  notifier: part(notifierConfig, createNotifier),
  enforcer: part(enforcerConfig, createEnforcer),
  console: part(consoleConfig, createConsole),
  audit: part(auditConfig, createAudit),
  gateway: part(gatewayConfig, createGateway),
} satisfies Record<ServiceName, Part>;

/** The component of each service. */
export type Parts = { [S in ServiceName]: ReturnType<(typeof PARTS)[S]['create']> };
