import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * The headers of Standard Webhooks 1.0.0 for one attempt. `webhook-id` is the same for every attempt.
 * `webhook-timestamp` is `now` (epoch milliseconds) in whole seconds. With a secret, `webhook-signature` is `v1,` and
 * the base64 HMAC-SHA256 of `id.timestamp.body`.
 */
export function webhookHeaders(id: string, body: string, secret: string | null, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${signature}` };
}

/** The bytes of `whsec_<base64>`, or the UTF-8 bytes of any other string. */
function keyOf(secret: string): Buffer {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  return encoded !== '' && BASE64.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret, 'utf8');
}
