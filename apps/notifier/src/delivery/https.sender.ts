import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { AddressGuard } from '@tollkeeper/net';
import type { HttpsRequest, Send } from '../domain/destination.request.ts';
import type { AttemptOutcome } from '../domain/conclude-attempt.ts';
import type { ResolveName } from './name.resolver.ts';
import { readSnippet, withoutCredentials } from './response.snippet.ts';
import { describeFailure } from './send.failure.ts';

/** Milliseconds from the start of a request to the headers of its answer. */
const TIMEOUT_MS = 15_000;
/**
 * The share of the time that each address but the last has to connect. Node's default of 250 ms is too short for a
 * distant destination: if it also had an unreachable address, it would never be reached.
 */
const SHARE_OF_ADDRESS = 1 / 3;
const MAX_HEADER_BYTES = 16 * 1024;

export interface HttpsSenderDeps {
  guard: AddressGuard;
  resolve: ResolveName;
  timeoutMs?: number;
}

class BlockedAddress extends Error {}

/**
 * Sends to public https destinations only. The name is resolved once and every address is checked. The connection goes
 * to one of these addresses, which is checked again before anything is sent. Redirects are not followed, proxies from
 * the environment are not used, and no connection is reused.
 */
export function createHttpsSender({ guard, resolve, timeoutMs = TIMEOUT_MS }: HttpsSenderDeps): Send<HttpsRequest> {
  const agent = new Agent({ keepAlive: false });

  async function allowedAddresses(hostname: string): Promise<string[]> {
    const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
    if (!addresses.every((address) => guard.allows(address))) throw new BlockedAddress();
    return addresses;
  }

  function exchange({ headers, body, credentials }: HttpsRequest, target: RequestOptions): Promise<AttemptOutcome> {
    return new Promise((settle, reject) => {
      let answered = false;
      const request = httpsRequest({ ...target, method: 'POST', headers, agent }, (response) => {
        answered = true;
        settle(toAnswer(response, credentials));
      });
      request.on('socket', (socket) => {
        socket.once('connect', () => {
          const { remoteAddress } = socket;
          // Without an address, the connection is already closed. So the destination has failed; it is not forbidden.
          if (remoteAddress === undefined) request.destroy(new Error('the connection closed as soon as it was open'));
          else if (!guard.allows(remoteAddress)) request.destroy(new BlockedAddress());
        });
      });
      request.on('error', reject);
      request.on('close', () => answered || reject(new Error('the connection closed without a response')));
      request.end(body);
    });
  }

  return async (request, signal) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const cut = AbortSignal.any([deadline, signal]);
    try {
      const url = new URL(request.url);
      if (url.protocol !== 'https:') return blocked('The destination is not an https address.');
      const target = urlToHttpOptions(url);
      const addresses = await until(cut, () => allowedAddresses(target.hostname ?? ''));
      const options = {
        ...target,
        lookup: pinned(addresses),
        autoSelectFamilyAttemptTimeout: Math.ceil(timeoutMs * SHARE_OF_ADDRESS),
        signal: cut,
        maxHeaderSize: MAX_HEADER_BYTES,
        rejectUnauthorized: true,
      };
      return await exchange(request, options);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BlockedAddress) {
        return blocked('The destination has a private or otherwise special address, which deliveries may not go to.');
      }
      const reason = deadline.aborted ? `The destination did not answer within ${timeoutMs / 1000} s.` : undefined;
      return { kind: 'unreachable', reason: reason ?? describeFailure(error) };
    }
  };
}

async function toAnswer(response: IncomingMessage, credentials: readonly string[]): Promise<AttemptOutcome> {
  const { statusCode = 0, headers } = response;
  const snippet = withoutCredentials(await readSnippet(response), credentials);
  return { kind: 'answered', status: statusCode, snippet, retryAfter: headers['retry-after'] ?? null };
}

function blocked(reason: string): AttemptOutcome {
  return { kind: 'blocked', reason };
}

/** A look-up that returns only the checked addresses, so that a second answer of the DNS cannot replace them. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, all);
    else callback(null, all[0]?.address ?? '', all[0]?.family);
  };
}

/** Settles as `work` does, or rejects with the signal's reason if that comes first. */
async function until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
