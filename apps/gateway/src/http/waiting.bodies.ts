import { finished } from 'node:stream';
import { type BodyBudget, type BodyShare, type ErrorAnswerer, SMALL_BODY_BYTES } from '@tollkeeper/http';
import type { Area, Upstream } from '../domain/area.ts';
import { networkOf, tooLarge } from './admission.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';

export interface WaitingBodies {
  /**
   * The body of a request once it is worth a place at its service: all of it, or `stream` when more than
   * {@link SMALL_BODY_BYTES} of events have come, which `req` then gives first. Null when the request is over before:
   * its client disconnected, or the body found no room, stalled or was too large, which is answered here.
   *
   * With a session, a body is always complete, so that the access to write is checked when nothing is left to wait for.
   */
  wait(area: Area, req: EdgeRequest, res: EdgeResponse): Promise<Buffer | 'stream' | null>;
}

export interface WaitingBodiesDeps {
  /** A budget for each service, so that the bodies for a service that hangs take no room from the others. */
  budgets: Record<Upstream, BodyBudget>;
  answerError: ErrorAnswerer;
}

/**
 * Holds bodies in memory, within a budget, so that slow senders take no places at a service from others. The listener
 * limits how long a body may take.
 */
export function createWaitingBodies({ budgets, answerError }: WaitingBodiesDeps): WaitingBodies {
  /** Answers a request whose body stalls; its connection ends, as more of the body may come. */
  function refuse(error: unknown, req: EdgeRequest, res: EdgeResponse): void {
    if (!res.headersSent) res.setHeader('connection', 'close');
    answerError(error, req, res);
    req.resume();
  }

  function wait(area: Area, req: EdgeRequest, res: EdgeResponse): Promise<Buffer | 'stream' | null> {
    const { upstream, access, bodyLimitBytes, answerWithinMs } = area;
    // Not where the service has little time: that of the client would count.
    const passes = access === 'key' && answerWithinMs === undefined;
    if (res.closed) return Promise.resolve(null);
    const { promise, resolve } = Promise.withResolvers<Buffer | 'stream' | null>();
    const pieces: Buffer[] = [];
    let length = 0;

    const end = (error: unknown) => {
      stop();
      refuse(error, req, res);
      resolve(null);
    };
    const share: BodyShare = budgets[upstream].open(end, networkOf(res.locals.clientAddress));
    res.once('close', share.giveBack);
    const onData = (piece: Buffer) => {
      try {
        share.take(piece.length);
      } catch (error) {
        return end(error);
      }
      pieces.push(piece);
      length += piece.length;
      if (passes && length > SMALL_BODY_BYTES) pass();
      else if (length > bodyLimitBytes) end(tooLarge(bodyLimitBytes));
    };
    const pass = () => {
      stop();
      req.pause();
      req.unshift(Buffer.concat(pieces, length));
      pieces.length = 0;
      // Its room is kept while it passes, for what is between the two connections.
      req.on('data', (piece: Buffer) => share.pass(piece.length));
      req.once('end', share.giveBack);
      // The part that the service leaves unread would come before the next request on this connection.
      res.once('finish', () => req.resume());
      resolve('stream');
    };
    const forget = finished(req, { writable: false }, (error) => {
      stop();
      // A small one is bounded by its place from here on, and by the budget of its service.
      if (length <= SMALL_BODY_BYTES) share.giveBack();
      else share.complete();
      resolve(error ? null : Buffer.concat(pieces, length));
    });
    const stop = () => {
      req.off('data', onData);
      forget();
    };
    req.on('data', onData);
    return promise;
  }

  return { wait };
}
