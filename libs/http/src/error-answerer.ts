import { AppError } from '@tollkeeper/kernel';
import type { ExplainError } from '@tollkeeper/kernel';
import type { Logger } from '@tollkeeper/runtime';
import type { ErrorRequestHandler, Request, Response } from 'express';
import { errorAnswer } from './error-body.ts';
import { isProtobuf, PROTOBUF_TYPE, statusBytes } from './protobuf-status.ts';

/** Answers a request that failed. `res.locals.requestId` must be set. */
export type ErrorAnswerer = (error: unknown, req: Request, res: Response) => void;

/**
 * Answers errors with the common error body, or to protobuf requests with a `google.rpc.Status`. Logs those that the
 * caller did not cause: as a warning if the answer names the failure, else as an error. If an answer has started, its
 * connection is closed, so that the client sees that it is incomplete.
 */
export function createErrorAnswerer(logger: Logger, explain: ExplainError = () => undefined): ErrorAnswerer {
  return (thrown, req, res) => {
    const error = explain(thrown) ?? thrown;
    const requestId = String(res.locals['requestId']);
    const { status, headers, body } = errorAnswer(error, requestId);
    if (status >= 500) {
      const level = error instanceof AppError ? 'warn' : 'error';
      logger[level]({ err: error, req, request_id: requestId }, 'request failed');
    }
    if (res.headersSent) {
      res.destroy();
      return;
    }
    res.status(status).set(headers);
    if (!isProtobuf(req.headers['content-type'])) return void res.json(body);
    res.setHeader('content-type', PROTOBUF_TYPE);
    res.end(statusBytes(body.error));
  };
}

/** An {@link ErrorAnswerer} as the last step of an express app. Express recognizes it by its four parameters. */
export function handleErrors(answer: ErrorAnswerer): ErrorRequestHandler {
  return (error: unknown, req, res, _next) => answer(error, req, res);
}
