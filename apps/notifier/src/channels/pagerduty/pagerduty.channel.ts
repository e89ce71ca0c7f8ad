import { z } from 'zod';
import { channelKind, JSON_HEADERS, LONG_PAUSES_MS } from '../channel.kind.ts';
import { pagerdutyBody } from './pagerduty.body.ts';

const URL_OF_PAGERDUTY = 'https://events.pagerduty.com/v2/enqueue';

const routingKey = z
  .string()
  .regex(/^[A-Za-z0-9]{32}$/, 'must be the integration key of an Events API v2 integration: 32 letters and digits')
  .meta({ description: 'Integration key of an Events API v2 integration. No response shows it.' });

/** A service in PagerDuty. All notifications of an alert reach one incident. */
export const pagerduty = channelKind({
  description: `PagerDuty, Events API v2; \`url\` is ${URL_OF_PAGERDUTY} if it is left out`,
  config: (url) => z.strictObject({ url: url.optional(), routing_key: routingKey }),
  shown: z.object({ url: z.string() }),
  show: ({ url = URL_OF_PAGERDUTY }) => ({ url }),
  address: ({ url = URL_OF_PAGERDUTY }) => url,
  credentials: ({ routing_key }) => ({ routing_key }),
  auditedAs: { url: 'url', routing_key: 'routing_key' },
  request: ({ url = URL_OF_PAGERDUTY, routing_key }, message) => ({
    via: 'https',
    url,
    headers: JSON_HEADERS,
    body: pagerdutyBody(routing_key, message),
  }),
  // A resolution that is given up would leave the incident open.
  retryPausesMs: LONG_PAUSES_MS,
});
