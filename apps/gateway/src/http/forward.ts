import { CALLER_HEADER, CLIENT_HEADER, signClientAddress } from '@tollkeeper/http';
import type { ErrorAnswerer, TokenKey } from '@tollkeeper/http';
import type { Upstream } from '../domain/area.ts';
import { isSafeMethod } from '../domain/write-protection.ts';
import type { Membership } from '../domain/membership.ts';
import type { Session, SessionDirectory } from '../domain/session.ts';
import type { Target } from './admission.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';
import { passedHeaders } from './passed-headers.ts';
import { createUpstream } from './upstream.ts';
import type { UpstreamService } from './upstream.ts';

export interface ForwardOptions {
  /** Origins of the services. */
  upstreams: Record<Upstream, string>;
  tokenKey: TokenKey;
  sessions: SessionDirectory;
  /** How long a service may stay silent, in milliseconds. */
  timeoutMs: number;
  edgeHeaders: EdgeHeaders;
  /** Answers a request whose service failed. */
  answerError: ErrorAnswerer;
}

/** The results of the checks of a request. */
export interface Admitted {
  target: Target;
  cookie: string | undefined;
  session: Session | null;
  membership: Membership | null;
  /** The whole body; `stream` to pass it on as it arrives; null for none. */
  body: Buffer | 'stream' | null;
}

export interface Forwarder {
  /**
   * Sends an admitted request to its service and the answer to the client. Throws `service_unavailable` when the
   * service already has too many requests in flight.
   */
  forward(req: EdgeRequest, res: EdgeResponse, admitted: Admitted): Promise<void>;
  /** Closes the connections to the services. */
  close(): Promise<void>;
}

export function createForwarder({ upstreams, tokenKey, sessions, edgeHeaders, ...options }: ForwardOptions): Forwarder {
  const answerHeaders = edgeHeaders.ofAnswer;
  const services = Object.fromEntries(
    Object.entries(upstreams).map(([name, origin]) => [
      name,
      createUpstream({ name, origin, answerHeaders, ...options }),
    ]),
  ) as Record<Upstream, UpstreamService>;

  async function forward(req: EdgeRequest, res: EdgeResponse, admitted: Admitted): Promise<void> {
    const { target, cookie, session, membership, body } = admitted;
    const { area } = target;
    const { method } = req;
    const headers = passedHeaders(req, res, area.credentials);
    if (session !== null) headers.push(CALLER_HEADER, await session.callerToken(area.upstream, membership));
    if (area.tellsClientAddress || (session !== null && !isSafeMethod(method))) {
      headers.push(CLIENT_HEADER, await signClientAddress(tokenKey, area.upstream, res.locals.clientAddress));
    }
    const { 'content-length': length } = req.headers;
    if (body === 'stream' && length !== undefined) headers.push('content-length', length);
    const changesSession = cookie !== undefined && area.upstream === 'identity' && !isSafeMethod(method);
    const onAnswer = changesSession ? () => sessions.forget(cookie) : undefined;
    const { bodyLimitBytes, answerWithinMs } = area;
    const request = { method, path: target.url, headers, body, bodyLimitBytes, answerWithinMs, onAnswer };
    services[area.upstream].send(request, req, res);
  }

  return {
    forward,
    async close() {
      await Promise.all(Object.values(services).map((service) => service.close()));
    },
  };
}
