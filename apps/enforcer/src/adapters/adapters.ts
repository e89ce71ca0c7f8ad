import type { GrpcService, RpcAuthenticator } from '@tollkeeper/grpc';
import type { Route } from '@tollkeeper/http';
import type { Clock } from '@tollkeeper/kernel';
import type { KeyCheck, VerifiedKey } from '@tollkeeper/workspace-keys';
import type { Reservations } from '../domain/enforcement.ts';
import type { UnreservedSpend } from '../domain/unreserved.spend.ts';
import type { CallPrices } from '../prices/call.prices.ts';
import { type AccessLogDeps, createAccessLogHandlers } from './access.log.handlers.ts';
import { createAuthorizationHandlers } from './authorization.handlers.ts';
import { createAuthzRoutes } from './authz.routes.ts';
import { createCallEnd } from './call.end.ts';
import { createLitellmRoute } from './litellm.routes.ts';
import { createPortkeyRoutes } from './portkey.routes.ts';
import { createProxyKeyAuthenticator } from './proxy.key.ts';
import { createRateLimitAuthenticator, createRateLimitHandlers } from './rate.limit.handlers.ts';

export interface AdapterDeps extends Pick<AccessLogDeps, 'room' | 'show' | 'onEntries'> {
  reservations: Reservations;
  unreserved: UnreservedSpend;
  prices: CallPrices;
  access: { check: Record<'asking' | 'ending', KeyCheck>; grpc: RpcAuthenticator<VerifiedKey> };
  clock: Clock;
}

/** The protocols in which proxies ask, besides our own. */
export function createAdapters({ unreserved, access, room, show, onEntries, ...deps }: AdapterDeps): {
  routes: Route[];
  services: GrpcService[];
} {
  const endCall = createCallEnd({ ...deps, unreserved });
  const { asking: mayAsk, ending: mayEnd } = access.check;
  const [asking, ending] = [createProxyKeyAuthenticator(mayAsk), createProxyKeyAuthenticator(mayEnd)];
  return {
    routes: [
      ...createAuthzRoutes({ ...deps, access: asking }),
      createLitellmRoute({ ...deps, access: asking }),
      ...createPortkeyRoutes({ ...deps, endCall, access: { asking, ending } }),
    ],
    services: [
      createRateLimitHandlers({ ...deps, endCall, authenticator: createRateLimitAuthenticator(access.check) }),
      createAuthorizationHandlers({ ...deps, authenticator: access.grpc }),
      createAccessLogHandlers({ endCall, check: mayEnd, room, show, onEntries }),
    ],
  };
}
