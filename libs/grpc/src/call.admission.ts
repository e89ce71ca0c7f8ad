import type { ServiceDefinition } from '@grpc/grpc-js';
import { AppError } from '@tollkeeper/kernel';
import type { RpcAuthenticator, RpcFacts } from './grpc-service.ts';
import { createServiceTokenCheck } from './service-token.ts';
import { serviceNameOf } from './unary.ts';

/** Most concurrent requests of one caller, including those in batches, for services with an authenticator. */
const MAX_IN_FLIGHT = 256;

/** The caller; null if it should be one of our services and is not. */
export type Admit = (facts: RpcFacts) => Promise<{ caller: unknown; ended?: () => void } | null>;

/** The caller, and its name where callers are bounded. Rejects for any other. */
export type AdmitCaller = (facts: RpcFacts) => Promise<{ caller: unknown; sender: string; ended: () => void }>;

/** Accepts our services, by their shared token. */
export function admitServices(callerTokenSecret: string, definition: ServiceDefinition): Admit {
  const isForUs = createServiceTokenCheck(callerTokenSecret, serviceNameOf(definition));
  return async ({ authorization }) => ((await isForUs(authorization)) ? { caller: undefined } : null);
}

/** Accepts callers of `authenticate`, with a bounded number of concurrent requests each. */
export function admitCallers({ authenticate, senderOf }: RpcAuthenticator<unknown>): AdmitCaller {
  const inFlight = new Map<string, number>();
  return async (facts) => {
    const caller = await authenticate(facts);
    const sender = senderOf(caller);
    const count = (inFlight.get(sender) ?? 0) + facts.requests;
    if (count > MAX_IN_FLIGHT) throw tooManyInFlight();
    inFlight.set(sender, count);
    const ended = (): void => {
      const left = (inFlight.get(sender) ?? 0) - facts.requests;
      if (left === 0) inFlight.delete(sender);
      else inFlight.set(sender, left);
    };
    return { caller, sender, ended };
  };
}

function tooManyInFlight(): AppError {
  const message = `You have reached the maximum of ${MAX_IN_FLIGHT} requests in flight. Wait for responses before sending more.`;
  return new AppError('rate_limited', message, { retryAfterSeconds: 1 });
}
