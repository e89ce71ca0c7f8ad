import { CALLER_HEADER, CLIENT_HEADER, signClientAddress } from '@tollkeeper/http';
import type { ErrorAnswerer, TokenKey } from '@tollkeeper/http';
import { createTurns, type Turns } from '@tollkeeper/kernel';
import { type Area, AREAS, type Upstream } from '../domain/area.ts';
import { isSafeMethod } from '../domain/write-protection.ts';
import type { Membership } from '../domain/membership.ts';
import type { Session, SessionDirectory } from '../domain/session.ts';
import { keyOf, type Target } from './admission.ts';
import type { EdgeHeaders } from './edge-headers.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';
import { passedHeaders } from './passed-headers.ts';
import { createUpstream, tooLate } from './upstream.ts';
import type { UpstreamService } from './upstream.ts';

/**
 * Requests with a deadline that one sender may have at a service at a time. Its further ones wait here, for up to half
 * of their time, because at the service the requests of others would wait behind them.
 */
export const AT_ONCE_PER_SENDER = 32;

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
   * service already has too many requests in flight, and when a request with a deadline waits too long for those of the
   * same sender.
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

  const turns = new Map(AREAS.map((area) => [area, createTurnsFor(area)]));

  async function forward(req: EdgeRequest, res: EdgeResponse, admitted: Admitted): Promise<void> {
    const { target, cookie, session, membership, body } = admitted;
    const { area } = target;
    const { method } = req;
    const headers = passedHeaders(req, res, area.headers);
    if (session !== null) headers.push(CALLER_HEADER, await session.callerToken(area.upstream, membership));
    if (area.tellsClientAddress || (session !== null && !isSafeMethod(method))) {
      headers.push(CLIENT_HEADER, await signClientAddress(tokenKey, area.upstream, res.locals.clientAddress));
    }
    const { 'content-length': length } = req.headers;
    if (body === 'stream' && length !== undefined) headers.push('content-length', length);
    const changesSession = cookie !== undefined && area.upstream === 'identity' && !isSafeMethod(method);
    const onAnswer = changesSession ? () => sessions.forget(cookie) : undefined;
    const { upstream, bodyLimitBytes, answerWithinMs: withinMs, silentForMs } = area;
    const send = (answerWithinMs?: number): void => {
      const limits = { bodyLimitBytes, answerWithinMs, silentForMs };
      const request = { method, path: target.url, headers, body, ...limits, onAnswer };
      services[upstream].send(request, req, res);
    };
    if (withinMs === undefined) return send();
    const deadline = performance.now() + withinMs;
    const sender = session?.userId ?? keyOf(area, req.headers) ?? '';
    // Waiting requests have their bodies in memory, also when their client has left.
    const left = new AbortController();
    const closed = new Promise<void>((resolve) => {
      res.once('close', () => {
        resolve();
        left.abort();
      });
    });
    if (res.closed) return;
    const work = (): Promise<void> => {
      send(Math.max(deadline - performance.now(), 0));
      return closed;
    };
    try {
      await turns.get(area)!.run(sender, 1, work, left.signal);
    } catch (error) {
      if (!left.signal.aborted) throw error;
    }
  }

  return {
    forward,
    async close() {
      await Promise.all(Object.values(services).map((service) => service.close()));
    },
  };
}

function createTurnsFor({ upstream, answerWithinMs = 0 }: Area): Turns {
  const waiting = { ofSender: Infinity, ms: answerWithinMs / 2, refusal: () => tooLate(upstream) };
  return createTurns({ capacity: Infinity, ofSender: AT_ONCE_PER_SENDER, waiting });
}
