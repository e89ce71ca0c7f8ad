import { finished } from 'node:stream';
import { type BodyBudget, type BodyShare, type ErrorAnswerer, SMALL_BODY_BYTES } from '@tollkeeper/http';
import type { Area, Upstream } from '../domain/area.ts';
import { networkOf, tooLarge } from './admission.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';

export interface WaitingBodies {
  /**
   * Resolves when a request may take a place at its service: to the whole body, or to `stream` when more than
   * {@link SMALL_BODY_BYTES} of events have arrived, which `req` then emits first. Null if the request is over: its
   * client disconnected, or the body found no room, stalled or was too large, which is answered here.
   *
   * With a session, the body is always complete, so that write access is checked after all waiting.
   */
  wait(area: Area, req: EdgeRequest, res: EdgeResponse): Promise<Buffer | 'stream' | null>;
}

export interface WaitingBodiesDeps {
  /** One budget per service, so that bodies for a service that hangs take no room from the others. */
  budgets: Record<Upstream, BodyBudget>;
  answerError: ErrorAnswerer;
}

/**
 * Holds bodies in memory, within a budget, so that slow senders do not take up a service's places. The listener limits
 * how long a body may take.
 */
export function createWaitingBodies({ budgets, answerError }: WaitingBodiesDeps): WaitingBodies {
  /** Answers a request whose body stalls, and closes the connection, as more of the body may arrive. */
  function refuse(error: unknown, req: EdgeRequest, res: EdgeResponse): void {
    if (!res.headersSent) res.setHeader('connection', 'close');
    answerError(error, req, res);
    req.resume();
  }

  function wait(area: Area, req: EdgeRequest, res: EdgeResponse): Promise<Buffer | 'stream' | null> {
    const { upstream, access, bodyLimitBytes, answerWithinMs } = area;
    // Not for services with a deadline, because the client's sending time would count.
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
      else if (length > bodyLimitBytes) end(tooLarge(bodyLimitBytes, req.url));
    };
    const pass = () => {
      stop();
      req.pause();
      req.unshift(Buffer.concat(pieces, length));
      pieces.length = 0;
      // Streamed bytes keep their room in the budget while they are between the two connections.
      req.on('data', (piece: Buffer) => share.pass(piece.length));
      req.once('end', share.giveBack);
      // Otherwise what the service left unread would come before the next request on this connection.
      res.once('finish', () => req.resume());
      resolve('stream');
    };
    const forget = finished(req, { writable: false }, (error) => {
      stop();
      // From here on, the place bounds small bodies.
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
