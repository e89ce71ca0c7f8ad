import { createConfiguredEventLog } from '@tollkeeper/event-log';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { createDashboard, dashboardConfig } from '../src/index.ts';

/** The message of the process to its parent. */
export interface DashboardProcessMessage {
  httpUrl: string;
}

/** The dashboard in a process of its own, whose heap size the parent chooses. Only identity may be up. */
async function run(
  uri: string,
  database: string,
  now: number,
  secret: string,
  { identity = '127.0.0.1:1', logDatabase = `${database}_log` },
): Promise<void> {
  const logger = createLogger({ service: 'dashboard', level: 'silent' });
  const metrics = createMetrics('dashboard');
  const log = { EVENT_LOG_MONGODB_URI: uri, EVENT_LOG_DATABASE: logDatabase };
  const eventLog = createConfiguredEventLog({ config: log, logger, metrics });
  const config = loadConfig(dashboardConfig, {
    ...{ HOST: '127.0.0.1', HTTP_PORT: '0', GRPC_PORT: '0', CALLER_TOKEN_SECRET: secret },
    ...{ MONGODB_URI: uri, MONGODB_DATABASE: database, RETENTION_SECONDS: '2147483647' },
    ...{ IDENTITY_GRPC: identity, BUDGETS_GRPC: '127.0.0.1:1', ENFORCER_GRPC: '127.0.0.1:1' },
    CHANNEL_ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    DESTINATION_ALLOW_CIDRS: '127.0.0.1/32',
  });
  await eventLog.start();
  const service = createDashboard({ config, logger, metrics, eventLog, clock: () => now });
  await service.start();
  const message: DashboardProcessMessage = { httpUrl: service.httpUrl };
  process.send?.(message);
  process.on('disconnect', () => process.exit());
}

const [uri, database, now, secret, identity, logDatabase] = process.argv.slice(2);
if (import.meta.main && uri && database && secret) {
  await run(uri, database, Number(now), secret, { ...(identity && logDatabase && { identity, logDatabase }) });
}
