import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { AlertUrl } from '../domain/attempt-delivery.ts';

const CACHED_WORKSPACES = 10_000;
const TIMEOUT_MS = 500;

/**
 * Links below `publicUrl` with the slug of the workspace, which never changes. While identity is unreachable, links
 * lack the slug. They still work for people with one workspace, and no notification waits for its link.
 */
export function createAlertUrl(
  identity: GrpcClient<IdentityServiceDefinition>,
  publicUrl: string,
  logger: Logger,
  timeoutMs = TIMEOUT_MS,
): AlertUrl {
  const slugs = new LRUCache<TenantId, string>({
    ...roomFor(CACHED_WORKSPACES),
    fetchMethod: async (tenantId) =>
      (await identity.getWorkspace({ tenantId }, { deadlineMs: timeoutMs })).workspace?.slug,
  });

  return async (tenantId, alertId = '') => {
    const slug = await slugs.fetch(tenantId).catch((err: unknown) => {
      logger.warn({ err }, 'identity did not return the workspace; the link in a notification omits it');
      return undefined;
    });
    const workspace = slug === undefined ? '' : `/w/${encodeURIComponent(slug)}`;
    return `${publicUrl}${workspace}/api/v1/alerts/${encodeURIComponent(alertId)}`;
  };
}
