import { type IdentityServiceDefinition, RAISE_LINK_MS, signRaiseLink } from '@tollkeeper/contracts';
import type { GrpcClient } from '@tollkeeper/grpc';
import { roomFor, type TenantId } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { LRUCache } from 'lru-cache';
import { type LinkAlert, LINK_TOKEN } from '../domain/attempt-delivery.ts';

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

interface AlertLinksDeps {
  slugOf: SlugOf;
  publicUrl: string;
  /** Shared with budgets, which checks the tokens of links. */
  secret: string;
}

/**
 * Links below `publicUrl` with the slug of the workspace. Without it, links to the API still work for people with one
 * workspace, and pages are the console's first one. So no notification waits for its links.
 */
export function createAlertLinks({ slugOf, publicUrl, secret }: AlertLinksDeps): LinkAlert {
  return async (tenantId, about) => {
    const slug = await slugOf(tenantId);
    const workspace = slug === undefined ? '' : `/w/${encodeURIComponent(slug)}`;
    const alert = about?.alert;
    const raiseId = alert?.status === 'firing' ? alert.raise?.raise_id : undefined;
    if (alert !== undefined && raiseId !== undefined) {
      const token = signRaiseLink(secret, { tenantId, raiseId }, Date.parse(alert.triggered_at) + RAISE_LINK_MS);
      const page = `${publicUrl}${workspace}/raises/${encodeURIComponent(raiseId)}?${LINK_TOKEN}=${token}`;
      return { url: page, page };
    }
    const { below, search } = placeOf(about);
    const page = slug === undefined ? '/' : `${workspace}/alerts${search}`;
    return { url: `${publicUrl}${workspace}/api/v1/alerts${below}`, page: publicUrl + page };
  };
}

/** Where the alerts are, below the list of alerts in the API and in the console. */
function placeOf(about: Parameters<LinkAlert>[1]): { below: string; search: string } {
  if (about === undefined) return { below: '/', search: '' };
  const { alert, group } = about;
  const [id, rule] = [encodeURIComponent(alert.id), encodeURIComponent(alert.rule_id)];
  return group !== undefined && group.total > 1
    ? { below: `?rule_id=${rule}`, search: `?rule=${rule}` }
    : { below: `/${id}`, search: `?alert=${id}` };
}
