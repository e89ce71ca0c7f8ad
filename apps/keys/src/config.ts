import { grpcServiceFields, httpServiceFields, integerField, mongodbFields, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

export const keysConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...grpcServiceFields,
  ...mongodbFields('tollkeeper_keys'),
  LAST_USED_FLUSH_MS: integerField({ min: 10, max: 50_000 })
    .prefault('20000')
    .describe('milliseconds between writes of last_used_at, at most 50000 to stay under a minute; default 20000'),
});
export type KeysConfig = z.infer<typeof keysConfig>;
