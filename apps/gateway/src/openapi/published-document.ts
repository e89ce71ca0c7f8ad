import { openApiDocument } from '@tollkeeper/http';
import type { OpenApiDocument, Route } from '@tollkeeper/http';
import { systemClock } from '@tollkeeper/kernel';
import type { Clock } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import { mergeDocuments } from './merge.ts';
import type { ServiceDocument } from './merge.ts';

export interface PublishedDocumentOptions {
  /** Origins by service name. */
  upstreams: Record<string, string>;
  /** The gateway's own operations. */
  routes: readonly Route[];
  logger: Logger;
  clock?: Clock;
}

/** The OpenAPI document of the whole API, as JSON. */
export interface PublishedDocument {
  /** One buffer that all answers share. From a string, each answer would make a copy. */
  read(): Promise<Buffer>;
}

const FRESH_MS = 60_000;
/** A service that was down is asked again sooner. */
const RETRY_MS = 5_000;
const FETCH_TIMEOUT_MS = 2_000;

const DESCRIPTION = `Budgets, dashboards, alerts and workspace keys of an AI-agent gateway.

Log in with \`POST /api/v1/auth/login\`; the session is the cookie \`gw_session\`. Operations of a workspace are reached
at \`/w/{slug}/api/v1/…\`. Those of gateways (\`/api/v1/events\`, \`/api/v1/reservations\`, \`/api/v1/leases\`) take a
workspace key in place of the session, and no \`/w/{slug}\`, because the key names its workspace.

Money is in integer USD micros, times are RFC 3339 in UTC, and every error has the same body.

Answers may gain fields, and enumerations in them values: ignore those that you do not know. Nothing else changes for a
client that works today.`;

/**
 * Merges the services' own documents. Each service is asked at most once a minute. While a service is down, its last
 * good copy is used, and `info.x-unavailable-services` names it.
 */
export function createPublishedDocument(options: PublishedDocumentOptions): PublishedDocument {
  const { upstreams, routes, logger, clock = systemClock } = options;
  const own = openApiDocument(routes, { title: 'Tollkeeper', version: '1', description: DESCRIPTION });
  const lastGood = new Map<string, OpenApiDocument>();
  let bytes: Promise<Buffer> | undefined;
  let staleAt = 0;

  async function refresh(service: string, origin: string): Promise<boolean> {
    try {
      lastGood.set(service, await fetchDocument(origin));
      return true;
    } catch (err) {
      logger.warn({ err, upstream: service }, 'a service did not return its OpenAPI document');
      return false;
    }
  }

  async function build(): Promise<Buffer> {
    const names = Object.keys(upstreams);
    const outcomes = await Promise.all(Object.entries(upstreams).map(([service, origin]) => refresh(service, origin)));
    const unavailable = names.filter((_service, index) => !outcomes[index]);
    staleAt = clock() + (unavailable.length === 0 ? FRESH_MS : RETRY_MS);
    const services = names.flatMap((service): ServiceDocument[] => {
      const document = lastGood.get(service);
      return document === undefined ? [] : [{ service, document }];
    });
    const merged = mergeDocuments(own, services);
    if (unavailable.length > 0) merged.info = { ...merged.info, 'x-unavailable-services': unavailable };
    return Buffer.from(JSON.stringify(merged));
  }

  return {
    read() {
      if (bytes === undefined || clock() >= staleAt) {
        staleAt = Infinity;
        bytes = build();
        bytes.catch(() => (staleAt = 0));
      }
      return bytes;
    },
  };
}

async function fetchDocument(origin: string): Promise<OpenApiDocument> {
  const answer = await fetch(`${origin}/openapi.json`, {
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    redirect: 'error',
  });
  if (!answer.ok) throw new Error(`${origin}/openapi.json answered ${answer.status}`);
  return (await answer.json()) as OpenApiDocument;
}
