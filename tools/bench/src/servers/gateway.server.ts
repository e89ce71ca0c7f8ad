import { createGateway, gatewayConfig } from '@tollkeeper/gateway';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { announce } from './announce.ts';

// Started like its own main.ts, on a port that it reports to the benchmark. Its log goes to the standard output of the
// benchmark's parent, so that writing it is part of the measurement.
const config = loadConfig(gatewayConfig, process.env);
const gateway = createGateway({
  config,
  logger: createLogger({ service: 'gateway', level: config.LOG_LEVEL }),
  metrics: createMetrics('gateway'),
});
await gateway.start();
announce({ url: gateway.httpUrl });
