import type { ClientRequest } from 'node:http';
import type { Span } from '@tollkeeper/runtime';
import type { Request, Response } from 'express';
import type { Session } from '../clients/session.directory.ts';
import type { Area } from '../domain/area.ts';
import type { Membership } from '../domain/membership.ts';

/** What is known about a request as soon as it is, for its log line and its error answer; kept in `res.locals`. */
export interface Exchange {
  requestId: string;
  /** Absent while nothing is traced. */
  span?: Span;
  area?: Area;
  session?: Session;
  membership?: Membership;
  /** The request to the service, from when it has a connection. */
  sent?: ClientRequest;
  sentAgain?: boolean;
  /** Called when the service has answered, before the client gets to see it. */
  onAnswer?: () => void;
}

export type EdgeRequest = Request;
export type EdgeResponse = Response<unknown, Exchange>;
