import { afterAll, beforeAll } from '@jest/globals';
import { createMetrics, loadConfig } from '@tollkeeper/runtime';
import { CALLER_TOKEN_SECRET, testLogger } from '@tollkeeper/testing';
import { createConsole, consoleConfig, type ConsoleService } from '../src/index.ts';

/** The service. */
export function useConsole() {
  const { logger } = testLogger();
  let service: ConsoleService;

  beforeAll(async () => {
    const config = loadConfig(consoleConfig, {
      HOST: '127.0.0.1',
      HTTP_PORT: '0',
      GRPC_PORT: '0',
      CALLER_TOKEN_SECRET,
    });
    service = createConsole({ config, logger, metrics: createMetrics('console') });
    await service.start();
  });
  afterAll(async () => {
    await service.stop();
  });
  return { service: () => service };
}
