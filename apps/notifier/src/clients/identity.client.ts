import type { IdentityServiceDefinition } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import type { LinkAlert } from '../domain/attempt-delivery.ts';

const CACHED_WORKSPACES = 10_000;
const TIMEOUT_MS = 500;

/** The slug of a workspace, which never changes; undefined while identity is unreachable. */
export type SlugOf = (tenantId: TenantId) => Promise<string | undefined>;

export function createSlugs(
  identity: GrpcClient<IdentityServiceDefinition>,
  logger: Logger,
  timeoutMs = TIMEOUT_MS,
): SlugOf {
  const slugs = new LRUCache<TenantId, string>({
    ...roomFor(CACHED_WORKSPACES),
    fetchMethod: async (tenantId) =>
      (await identity.getWorkspace({ tenantId }, { deadlineMs: timeoutMs })).workspace?.slug,
  });
  return (tenantId) =>
    slugs.fetch(tenantId).catch((err: unknown) => {
      logger.warn({ err }, 'identity did not return the workspace; the links of a notification omit it');
      return undefined;
    });
}

/**
 * Links below `publicUrl` with the slug of the workspace. Without it, links to the API still work for people with one
 * workspace, and pages are the console's first one. So no notification waits for its links.
 */
export function createAlertLinks(slugOf: SlugOf, publicUrl: string): LinkAlert {
  return async (tenantId, alertId = '') => {
    const slug = await slugOf(tenantId);
    const id = encodeURIComponent(alertId);
    if (slug === undefined) return { url: `${publicUrl}/api/v1/alerts/${id}`, page: `${publicUrl}/` };
    const workspace = `${publicUrl}/w/${encodeURIComponent(slug)}`;
    const page = `${workspace}/alerts${id === '' ? '' : `?alert=${id}`}`;
    return { url: `${workspace}/api/v1/alerts/${id}`, page };
  };
}
