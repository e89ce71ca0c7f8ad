import { httpServiceFields, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

/** Environment of console. */
export const consoleConfig = serviceConfig.extend({
  ...httpServiceFields,
});
export type ConsoleConfig = z.infer<typeof consoleConfig>;
