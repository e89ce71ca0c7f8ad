import { answerStatus, endServerSpan, REQUEST_ID_HEADER, requestIdOf, startServerSpan } from '@tollkeeper/http';
import { type Logger, type Metrics, type Tracer, withSpan } from '@tollkeeper/runtime';
import { clientAddress } from './admission.ts';
import type { EdgeRequest, EdgeResponse } from './exchange.ts';

const MAX_LOGGED_PATH = 256;

/**
 * Gives each request its id, and a span if there is a tracer. When the request has ended, counts it and writes one log
 * line: no query, no headers, and the client's address only where failures are counted by address.
 */
export function createObserver(
  metrics: Metrics,
  logger: Logger,
  tracer: Tracer | undefined,
): (req: EdgeRequest, res: EdgeResponse) => void {
  const duration = metrics.histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Time from the request line to the end of the response',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });

  return (req, res) => {
    const startedAt = performance.now();
    const exchange = res.locals;
    exchange.requestId = requestIdOf(req.headers[REQUEST_ID_HEADER]);
    exchange.clientAddress = clientAddress(req);
    const onClose = () => {
      const ms = performance.now() - startedAt;
      const route = exchange.area?.name ?? 'none';
      const status = answerStatus(res);
      duration.observe({ method: req.method, route, status }, ms / 1000);
      logger.info(
        {
          request_id: exchange.requestId,
          method: req.method,
          path: req.originalUrl.split('?', 1)[0]?.slice(0, MAX_LOGGED_PATH),
          area: route,
          status,
          ms: Math.round(ms * 10) / 10,
          user_id: exchange.session?.userId,
          tenant_id: exchange.membership?.tenantId,
          ...(exchange.area?.tellsClientAddress === true && { client_address: exchange.clientAddress }),
          ...(!res.writableFinished && { aborted: true }),
        },
        'request',
      );
    };
    if (tracer === undefined) {
      res.on('close', onClose);
      return;
    }
    const span = startServerSpan(tracer, req, exchange.requestId);
    exchange.span = span;
    res.on('close', () => {
      withSpan(span, onClose);
      endServerSpan(span, req.method, exchange.area?.path, res);
    });
  };
}
