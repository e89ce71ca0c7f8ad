import type { MailSettings, SendMail } from '@tollkeeper/mail';
import { failSpan, inSpan, type Span, type Tracer } from '@tollkeeper/runtime';
import type { Delivery } from '../domain/delivery.ts';
import type { HttpsRequest, Send } from '../domain/destination.request.ts';
import type { AttemptOutcome } from '../domain/conclude-attempt.ts';

/** Runs an attempt at a delivery, and storing its result, in the trace of the notification. */
export type InTrace = <T>(delivery: Delivery, attempt: () => Promise<T>) => Promise<T>;

export function createDeliveryTracing(tracer: Tracer | undefined): InTrace {
  if (tracer === undefined) return (_delivery, attempt) => attempt();
  return ({ notification, channelType, attempts, trace = {} }, attempt) => {
    const attributes = {
      'tollkeeper.tenant_id': notification.tenantId,
      'tollkeeper.alert_id': notification.alert.id,
      'tollkeeper.notification_id': notification.notificationId,
      'tollkeeper.channel_id': notification.channelId,
      'tollkeeper.channel_type': channelType,
      'tollkeeper.attempt': attempts + 1,
    };
    return inSpan(tracer, { name: 'deliver notification', kind: 'consumer', parent: trace, attributes }, attempt);
  };
}

/**
 * Runs `send` in a client span. The span has only the host and the port, since the path of a webhook is a secret. The
 * request has no trace context, which is none of the destination's business.
 */
export function traceSending(tracer: Tracer | undefined, send: Send<HttpsRequest>): Send<HttpsRequest> {
  if (tracer === undefined) return send;
  return (request, signal) =>
    inSpan(tracer, { name: 'POST', kind: 'client', attributes: describe(request.url) }, async (span) => {
      const outcome = await send(request, signal);
      if (span !== undefined) setOutcome(span, outcome);
      return outcome;
    });
}

/** Runs `send` in a client span, which names the mail server and nobody who gets the mail. */
export function traceMailing(
  tracer: Tracer | undefined,
  { host, port }: MailSettings['server'],
  send: SendMail,
): SendMail {
  if (tracer === undefined) return send;
  const attributes = { 'server.address': host, 'server.port': port };
  return (mail, stopped) => inSpan(tracer, { name: 'SMTP', kind: 'client', attributes }, () => send(mail, stopped));
}

function describe(url: string) {
  const { hostname = '', port = '' } = URL.parse(url) ?? {};
  return { 'http.request.method': 'POST', 'server.address': hostname, 'server.port': port === '' ? 443 : Number(port) };
}

function setOutcome(span: Span, outcome: AttemptOutcome): void {
  if (outcome.kind !== 'answered') return failSpan(span, outcome.kind);
  span.setAttribute('http.response.status_code', outcome.status);
  if (outcome.status >= 400) failSpan(span, String(outcome.status));
}
