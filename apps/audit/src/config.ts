import { httpServiceFields, mongodbFields, serviceConfig } from '@tollkeeper/runtime';
import type { z } from 'zod';

/** Environment of audit. */
export const auditConfig = serviceConfig.extend({
  ...httpServiceFields,
  ...mongodbFields('tollkeeper_audit'),
});
export type AuditConfig = z.infer<typeof auditConfig>;
