import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, canonicalTimezone } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { TimezoneSource } from '../domain/peers.ts';

/** Longest that identity may take, so that a call is told within a second. */
const DEADLINE_MS = 400;

/** Asks identity each time. */
export function createTimezoneSource(identity: GrpcClient<IdentityServiceDefinition>, logger: Logger): TimezoneSource {
  return {
    async timezoneOf(tenantId) {
      const { workspace } = await identity.getWorkspace({ tenantId }, { deadlineMs: DEADLINE_MS }).catch(unavailable);
      if (workspace === null) return unavailable(new Error('identity answered no workspace'));
      const canonical = canonicalTimezone(workspace.timezone);
      if (canonical !== null) return canonical;
      // A workspace may have a time zone that only ICU knows. Its days are then those of UTC, as in the dashboard.
      const { timezone } = workspace;
      logger.warn({ tenant_id: tenantId, timezone }, 'unknown time zone of a workspace; its days are those of UTC');
      return 'UTC';
    },
  };
}

function unavailable(cause: unknown): never {
  const message = 'The time zone of the workspace cannot be read just now. Try again shortly.';
  throw new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
