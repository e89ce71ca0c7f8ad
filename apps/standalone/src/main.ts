import {
  createLogger,
  createMetrics,
  createTracing,
  isTraced,
  loadConfig,
  runProcess,
  STOP_TIMEOUT_MS,
} from '@tollkeeper/runtime';
import { standaloneConfig } from './config.ts';
import { findFreePort, requireFreePort } from './port.ts';
import { createStandalone } from './standalone.service.ts';
import { createTerminal, endingReadably } from './terminal.ts';

const terminal = createTerminal({ out: process.stdout, err: process.stderr });
const end = (reason: unknown) => {
  terminal.failure(reason);
  process.exit(1);
};
const onFatal = (reason: string) => {
  terminal.stopped(reason);
  process.exit(1);
};

try {
  const config = loadConfig(standaloneConfig, process.env);
  // Standard output has the terminal's own lines. Logs go there only if a person reads them, else to standard error.
  const destination = process.stderr.isTTY ? { pretty: true } : { destination: process.stderr };
  const loggerOf = (service: string) =>
    createLogger({ service, level: config.LOG_LEVEL, traceIds: isTraced(config), ...destination });
  await requireFreePort('OPS_PORT', '127.0.0.1', config.OPS_PORT);
  const port = await requireFreePort('PORT', config.HOST, config.PORT);
  const otlpPort = await findFreePort(config.OTLP_PORT);
  if (config.OTLP_PORT !== 0 && otlpPort !== config.OTLP_PORT) {
    terminal.progress(`Port ${config.OTLP_PORT} is in use, so OTLP over gRPC is at 127.0.0.1:${otlpPort} (OTLP_PORT).`);
  }
  const metrics = createMetrics('standalone');
  const tracing = await createTracing({ config, logger: loggerOf('standalone'), metrics });
  const standalone = createStandalone({ config, port, otlpPort, loggerOf, metrics, tracing, terminal, onFatal });
  const build = () => endingReadably(standalone, end);
  await runProcess({ name: 'tollkeeper', build, logger: loggerOf('standalone'), stopTimeoutMs: STOP_TIMEOUT_MS });
} catch (error) {
  end(error);
}
