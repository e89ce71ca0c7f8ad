import type { NextFunction, Request, Response } from 'express';
import type { Session } from '../clients/session.directory.ts';
import type { Area } from '../domain/area.ts';
import type { Membership } from '../domain/membership.ts';

/** What the gateway has found out about one request so far; each step adds its part to `res.locals`. */
export interface Exchange {
  requestId: string;
  /** Set once the path is known to belong to an area. */
  area?: Area;
  /** The slug of the path prefix or the X-Workspace header. */
  slug?: string;
  /** The workspace id in a budgets path. */
  tenantId?: string;
  /** The session cookie, when there is one. */
  cookie?: string;
  session?: Session;
  membership?: Membership;
  /** Called when the service has answered, before the client gets to see it. */
  onAnswer?: () => void;
}

export type EdgeRequest = Request;
export type EdgeResponse = Response<unknown, Exchange>;

/** One step of the edge. Throwing or rejecting answers with the error. */
export type EdgeHandler = (req: EdgeRequest, res: EdgeResponse, next: NextFunction) => void | Promise<void>;
