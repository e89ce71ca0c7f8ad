import { createHttpServer } from '@tollkeeper/http';
import { assembleService, type Component, type ServesHttp, type ServiceDeps } from '@tollkeeper/runtime';
import type { ConsoleConfig } from './config.ts';

export type ConsoleDeps = ServiceDeps<ConsoleConfig>;

/** The console, the pages for people in a browser. Addresses are valid once started. */
export type ConsoleService = Component & ServesHttp;

export function createConsole(deps: ConsoleDeps): ConsoleService {
  const { logger } = deps;
  const http = createHttpServer({ ...deps, routes: [], service: 'console', title: 'Tollkeeper console' });
  return assembleService({ name: 'console', logger, parts: [], http });
}
