import { createGateway, gatewayConfig } from '@tollkeeper/gateway';
import { createLogger, createMetrics, loadConfig } from '@tollkeeper/runtime';
import { announce } from './announce.ts';

// As its own main.ts starts it, on a port that it reports to the benchmark. Log lines go where the benchmark's parent
// sends standard output, so that writing them is part of the measurement.
const config = loadConfig(gatewayConfig, process.env);
const gateway = createGateway({
  config,
  logger: createLogger({ service: 'gateway', level: config.LOG_LEVEL }),
  metrics: createMetrics('gateway'),
});
await gateway.start();
announce({ url: gateway.httpUrl });
