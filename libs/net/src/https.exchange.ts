import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import type { AddressGuard } from './address.guard.ts';
import type { ResolveName } from './name.resolver.ts';
import { describeFailure } from './send.failure.ts';

/**
 * The share of the time that each address but the last has to connect. Node's default of 250 ms is too short for a
 * distant destination: if it also had an unreachable address, it would never be reached.
 */
const SHARE_OF_ADDRESS = 1 / 3;
const MAX_HEADER_BYTES = 16 * 1024;

export interface OutgoingRequest {
  method: 'DELETE' | 'POST' | 'PUT';
  url: string;
  headers: Record<string, string>;
  body?: string | Buffer;
}

/**
 * Sends a request to a public https destination and returns the answer, whatever its status, before its body is read.
 * Rejects with {@link BlockedDestination}, {@link UnreachableDestination}, or the reason of `signal`.
 */
export type HttpsExchange = (request: OutgoingRequest, signal: AbortSignal) => Promise<IncomingMessage>;

/** The destination is not allowed. The message is a sentence for people. */
export class BlockedDestination extends Error {}

/** The destination did not answer. The message is a sentence for people. */
export class UnreachableDestination extends Error {}

export interface HttpsExchangeDeps {
  guard: AddressGuard;
  resolve: ResolveName;
  /** Milliseconds from the start of a request to the end of its answer. */
  timeoutMs: number;
}

/**
 * Sends to public https destinations only. The name is resolved once and every address is checked. The connection goes
 * to one of these addresses, which is checked again before anything is sent. Redirects are not followed, proxies from
 * the environment are not used, and no connection is reused.
 */
export function createHttpsExchange({ guard, resolve, timeoutMs }: HttpsExchangeDeps): HttpsExchange {
  const agent = new Agent({ keepAlive: false });

  async function allowedAddresses(hostname: string): Promise<string[]> {
    const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
    if (!addresses.every((address) => guard.allows(address))) throw specialAddress();
    return addresses;
  }

  function exchange({ method, headers, body }: OutgoingRequest, target: RequestOptions): Promise<IncomingMessage> {
    return new Promise((settle, reject) => {
      const request = httpsRequest({ ...target, method, headers, agent }, settle);
      request.on('socket', (socket) => {
        socket.once('connect', () => {
          const { remoteAddress } = socket;
          // Without an address, the connection is already closed. So the destination has failed; it is not forbidden.
          if (remoteAddress === undefined) request.destroy(new Error('the connection closed as soon as it was open'));
          else if (!guard.allows(remoteAddress)) request.destroy(specialAddress());
        });
      });
      request.on('error', reject);
      request.on('close', () => reject(new Error('the connection closed without a response')));
      request.end(body);
    });
  }

  return async (request, signal) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    const cut = AbortSignal.any([deadline, signal]);
    try {
      const url = new URL(request.url);
      if (url.protocol !== 'https:') throw new BlockedDestination('The destination is not an https address.');
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
      if (error instanceof BlockedDestination) throw error;
      const late = deadline.aborted ? `The destination did not answer within ${timeoutMs / 1000} s.` : undefined;
      throw new UnreachableDestination(late ?? describeFailure(error));
    }
  };
}

function specialAddress(): BlockedDestination {
  return new BlockedDestination(
    'The destination has a private or otherwise special address, which deliveries may not go to.',
  );
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
