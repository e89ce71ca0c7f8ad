import { z } from 'zod';
import { channelKind, JSON_HEADERS, LONG_PAUSES_MS } from '../channel.kind.ts';
import { opsgenieRequest } from './opsgenie.request.ts';

const URL_OF_OPSGENIE = 'https://api.opsgenie.com/v2/alerts';

const apiKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,128}$/, 'must be the API key of an API integration: 16 to 128 letters, digits, - and _')
  .meta({ description: 'API key of an API integration. No response shows it.' });

/** A team in Opsgenie. All notifications of an alert reach one alert there. */
export const opsgenie = channelKind({
  description: `Opsgenie, Alert API; \`url\` is ${URL_OF_OPSGENIE} if it is left out`,
  config: (url) => z.strictObject({ url: url.optional(), api_key: apiKey }),
  shown: z.object({ url: z.string() }),
  show: ({ url = URL_OF_OPSGENIE }) => ({ url }),
  address: ({ url = URL_OF_OPSGENIE }) => url,
  credentials: ({ api_key }) => ({ api_key }),
  auditedAs: { url: 'url', api_key: 'api_key' },
  request: ({ url = URL_OF_OPSGENIE, api_key }, message) => ({
    via: 'https',
    ...opsgenieRequest(url, message),
    headers: { ...JSON_HEADERS, authorization: `GenieKey ${api_key}` },
  }),
  // A resolution that is given up would leave the alert open.
  retryPausesMs: LONG_PAUSES_MS,
});
