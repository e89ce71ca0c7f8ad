import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createErrorAnswerer, createHttpListener, createRefusalCounter } from '@tollkeeper/http';
import { assembleService, type Component, type ServesHttp, type ServiceDeps } from '@tollkeeper/runtime';
import type { ConsoleConfig } from './config.ts';
import { createPages } from './http/pages.ts';

export interface ConsoleDeps extends ServiceDeps<ConsoleConfig> {
  /** Folder of the built pages; by default it is found next to this code. */
  pages?: string;
}

/** The console, the pages for people in a browser. Addresses are valid once started. */
export type ConsoleService = Component & ServesHttp;

export function createConsole({ config, logger, metrics, pages = findPages() }: ConsoleDeps): ConsoleService {
  const http = createHttpListener({
    name: 'http (console)',
    metrics,
    countRefusal: createRefusalCounter(metrics),
    host: config.HOST,
    port: config.HTTP_PORT,
    listener: createPages(pages, createErrorAnswerer(logger)),
  });
  return assembleService({ name: 'console', logger, parts: [], http });
}

/** Next to the bundle in an image, else the build output of this project. */
function findPages(): string {
  const bundled = join(import.meta.dirname, 'web');
  return existsSync(bundled) ? bundled : join(import.meta.dirname, '../web/dist');
}
