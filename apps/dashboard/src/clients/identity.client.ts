import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { AppError, canonicalTimezone, roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { Directory } from '../domain/directory.ts';

const FRESH_MS = 5000;
const CACHED_WORKSPACES = 10_000;

export function createDirectory(identity: GrpcClient<IdentityServiceDefinition>, logger: Logger): Directory {
  const timezones = new LRUCache<TenantId, string>({
    ...roomFor(CACHED_WORKSPACES),
    ttl: FRESH_MS,
    allowStaleOnFetchRejection: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: async (tenantId) => {
      const { workspace } = await identity.getWorkspace({ tenantId });
      const timezone = workspace?.timezone;
      if (timezone === undefined) return undefined;
      const canonical = canonicalTimezone(timezone);
      if (canonical !== null) return canonical;
      // A newer release of identity may know time zones that this one does not.
      logger.warn({ tenant_id: tenantId, timezone }, 'the time zone of a workspace is unknown; using UTC days');
      return 'UTC';
    },
  });

  return {
    async timezone(tenantId) {
      const timezone = await timezones.fetch(tenantId);
      if (timezone !== undefined) return timezone;
      const message = "The workspace's time zone cannot be read right now. Try again, or set `timezone`.";
      throw new AppError('service_unavailable', message, { retryAfterSeconds: 1 });
    },
    async workspaceName(tenantId) {
      try {
        return (await identity.getWorkspace({ tenantId })).workspace?.name ?? tenantId;
      } catch (err) {
        logger.warn({ err, tenant_id: tenantId }, 'identity did not return the name of a workspace; showing its id');
        return tenantId;
      }
    },
    async displayNames(tenantId, agentIds) {
      const names = new Map(agentIds.map((agentId) => [agentId, agentId]));
      if (agentIds.length === 0) return names;
      try {
        const { agents } = await identity.getAgents({ tenantId, agentIds });
        for (const { agentId, displayName } of agents) names.set(agentId, displayName);
      } catch (err) {
        logger.warn({ err }, 'identity did not return agent names; showing ids');
      }
      return names;
    },
    async hasAgent(tenantId, agentId) {
      return (await identity.getAgents({ tenantId, agentIds: [agentId] })).agents.length > 0;
    },
  };
}
