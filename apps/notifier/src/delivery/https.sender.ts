import type { IncomingMessage } from 'node:http';
import {
  type AddressGuard,
  BlockedDestination,
  createHttpsExchange,
  type ResolveName,
  UnreachableDestination,
} from '@tollkeeper/net';
import type { HttpsRequest, Send } from '../domain/destination.request.ts';
import type { AttemptOutcome } from '../domain/conclude-attempt.ts';
import { readSnippet, withoutCredentials } from './response.snippet.ts';

/** Milliseconds from the start of a request to the headers of its answer. */
const TIMEOUT_MS = 15_000;

export interface HttpsSenderDeps {
  guard: AddressGuard;
  resolve: ResolveName;
  timeoutMs?: number;
}

/** Posts to public https destinations only (`createHttpsExchange`), and reads the beginning of the answer. */
export function createHttpsSender({ guard, resolve, timeoutMs = TIMEOUT_MS }: HttpsSenderDeps): Send<HttpsRequest> {
  const exchange = createHttpsExchange({ guard, resolve, timeoutMs });

  return async ({ url, headers, body, credentials }, signal) => {
    try {
      return await toAnswer(await exchange({ method: 'POST', url, headers, body }, signal), credentials);
    } catch (error) {
      if (error instanceof BlockedDestination) return { kind: 'blocked', reason: error.message };
      if (error instanceof UnreachableDestination) return { kind: 'unreachable', reason: error.message };
      throw error;
    }
  };
}

async function toAnswer(response: IncomingMessage, credentials: readonly string[]): Promise<AttemptOutcome> {
  const { statusCode = 0, headers } = response;
  const snippet = withoutCredentials(await readSnippet(response), credentials);
  return { kind: 'answered', status: statusCode, snippet, retryAfter: headers['retry-after'] ?? null };
}
