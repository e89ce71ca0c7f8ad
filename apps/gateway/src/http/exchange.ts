import type { Span } from '@tollkeeper/runtime';
import type { Request, Response } from 'express';
import type { Part } from '../domain/area.ts';
import type { Membership } from '../domain/membership.ts';
import type { Session } from '../domain/session.ts';

/** What is known about a request as soon as it is, for its log line and its error answer; kept in `res.locals`. */
interface Exchange {
  requestId: string;
  /** The client's address: the socket's, or what the trusted proxies say. */
  clientAddress: string;
  /** Absent while nothing is traced. */
  span?: Span;
  area?: Part;
  session?: Session;
  membership?: Membership;
}

export type EdgeRequest = Request;
export type EdgeResponse = Response<unknown, Exchange>;
