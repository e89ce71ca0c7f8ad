import type { Span } from '@tollkeeper/runtime';
import type { Request, Response } from 'express';
import type { Part } from '../domain/area.ts';
import type { Membership } from '../domain/membership.ts';
import type { Session } from '../domain/session.ts';

/** What is known so far about a request, for its log line and error answer. It is kept in `res.locals`. */
interface Exchange {
  requestId: string;
  /** The client's address: the socket's, or the one from the trusted proxies. */
  clientAddress: string;
  /** Absent while tracing is off. */
  span?: Span;
  area?: Part;
  session?: Session;
  membership?: Membership;
}

export type EdgeRequest = Request;
export type EdgeResponse = Response<unknown, Exchange>;

/** The part of an answer that says when it has ended. */
export interface Ending {
  readonly closed: boolean;
  once(event: 'close', listener: () => void): unknown;
}
