import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, canonicalTimezone, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { TimezoneSource } from '../domain/peers.ts';

/** Deadline for identity, so that a call gets its answer within a second. */
const DEADLINE_MS = 200;

/** Asks identity each time. */
export function createTimezoneSource(identity: GrpcClient<IdentityServiceDefinition>, logger: Logger): TimezoneSource {
  /** Null for a workspace that identity does not know. */
  async function find(tenantId: TenantId) {
    try {
      return (await identity.getWorkspace({ tenantId }, { deadlineMs: DEADLINE_MS })).workspace;
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return null;
      throw unavailable(error);
    }
  }

  return {
    async timezoneOf(tenantId) {
      const workspace = await find(tenantId);
      if (workspace === null) {
        // The log may still have events of it, which must not block those of other workspaces.
        logger.error({ tenant_id: tenantId }, 'identity does not know a workspace; using UTC days');
        return 'UTC';
      }
      const canonical = canonicalTimezone(workspace.timezone);
      if (canonical !== null) return canonical;
      // A newer release of identity may have time zones unknown to this one. The dashboard handles them the same way.
      const { timezone } = workspace;
      logger.warn({ tenant_id: tenantId, timezone }, 'the time zone of a workspace is unknown; using UTC days');
      return 'UTC';
    },
  };
}

function unavailable(cause: unknown): AppError {
  const message = 'The time zone of the workspace cannot be read right now. Try again shortly.';
  return new AppError('service_unavailable', message, { retryAfterSeconds: 1, cause });
}
