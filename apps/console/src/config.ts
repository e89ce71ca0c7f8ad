import { portField, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

/** Environment of the console. It has no secrets, because its files are public. */
export const consoleConfig = serviceConfig.extend({
  HTTP_PORT: portField().prefault('8080').describe('port of the HTTP server behind the gateway; default 8080'),
});
export type ConsoleConfig = z.infer<typeof consoleConfig>;
