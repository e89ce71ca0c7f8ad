import { rootCertificates } from 'node:tls';
import type { CustomFetch } from 'openid-client';
import { Agent, request } from 'undici';

/** More than the metadata, keys, tokens or userinfo of any provider need. */
const MAX_ANSWER_BYTES = 512 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;
/** Connections per provider. Further requests wait. */
const MAX_CONNECTIONS = 32;
const KEEP_ALIVE_MS = 10_000;

export interface ProviderFetch {
  fetch: CustomFetch;
  close(): Promise<void>;
}

/**
 * Makes the fetch function for a provider, with connections of its own. A request ends by `timeoutMs` whatever the
 * provider does, and the size of answers is bounded. Redirects are not followed. `ca` are PEM certificates that are
 * trusted in addition to the system's.
 */
export function createProviderFetch({ ca, timeoutMs }: { ca: string | undefined; timeoutMs: number }): ProviderFetch {
  const agent = new Agent({
    connections: MAX_CONNECTIONS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxHeaderSize: MAX_HEADER_BYTES,
    maxResponseSize: MAX_ANSWER_BYTES,
    connect: { timeout: timeoutMs, ...(ca !== undefined && { ca: [...rootCertificates, ca] }) },
  });
  return {
    async fetch(url, { method, headers, body, signal }) {
      const answer = await request(url, {
        dispatcher: agent,
        method: method as 'GET',
        // A compressed answer could be larger than it looks.
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body === null || body === undefined ? null : String(body),
        signal: signal ?? null,
      });
      const bytes = await answer.body.bytes();
      const given = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [value].flat().map((each) => [name, each]),
      );
      return new Response(bytes.length === 0 ? null : bytes, { status: answer.statusCode, headers: given });
    },
    close: () => agent.destroy(),
  };
}
