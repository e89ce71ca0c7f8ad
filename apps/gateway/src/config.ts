import { isIP } from 'node:net';
import {
  callerTokenFields,
  hostPortField,
  httpOriginField,
  integerField,
  listField,
  portField,
  serviceConfig,
} from '@tollkeeper/runtime';
import type { z } from 'zod';

/** Environment of the gateway. */
export const gatewayConfig = serviceConfig.extend({
  ...callerTokenFields,
  HTTP_PORT: portField().prefault('8080').describe('port of the public HTTP server; default 8080'),
  PUBLIC_URL: httpOriginField().describe(
    'origin at which browsers reach the gateway, such as https://tollkeeper.example.com; writes from pages of other origins are refused',
  ),
  TRUSTED_PROXIES: listField()
    .refine((networks) => networks.every(isNetwork), 'must be IP addresses or CIDR ranges')
    .prefault('')
    .describe(
      'IP addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted, separated by commas; default none',
    ),
  IDENTITY_GRPC: hostPortField().describe('host:port of the gRPC server of identity'),
  IDENTITY_HTTP: httpOriginField().describe('origin of identity, such as http://identity:8080'),
  DASHBOARD_HTTP: httpOriginField().describe('origin of dashboard, such as http://dashboard:8080'),
  KEYS_HTTP: httpOriginField().describe('origin of keys, such as http://keys:8080'),
  INGEST_HTTP: httpOriginField().describe('origin of ingest, such as http://ingest:8080'),
  BUDGETS_HTTP: httpOriginField().describe('origin of budgets, such as http://budgets:8080'),
  ALERTS_HTTP: httpOriginField().describe('origin of alerts, such as http://alerts:8080'),
  NOTIFIER_HTTP: httpOriginField().describe('origin of the notifier, such as http://notifier:8080'),
  AUDIT_HTTP: httpOriginField().describe('origin of audit, such as http://audit:8080'),
  ENFORCER_HTTP: httpOriginField().describe('origin of enforcer, such as http://enforcer:8080'),
  CONSOLE_HTTP: httpOriginField().describe('origin of console, such as http://console:8080'),
  SESSION_CACHE_MS: integerField({ min: 0, max: 5_000 })
    .prefault('5000')
    .describe('milliseconds to cache the state of a session, at most 5000; default 5000'),
  UPSTREAM_TIMEOUT_MS: integerField({ min: 100, max: 300_000 })
    .prefault('30000')
    .describe('milliseconds to wait for data from a service before answering 504; default 30000'),
  LOGIN_ATTEMPTS_PER_MINUTE: integerField({ min: 1, max: 100_000 })
    .prefault('60')
    .describe('logins per minute from one address, successful or not, before it gets 429; default 60'),
  IN_FLIGHT_PER_SENDER: integerField({ min: 1, max: 1024 })
    .prefault('256')
    .describe(
      'maximum requests in flight for one user, or for one workspace key in one area; more get 429, LiteLLM 503; default 256',
    ),
  IN_FLIGHT_PER_ADDRESS: integerField({ min: 1, max: 4096 })
    .prefault('512')
    .describe(
      'maximum requests in flight from one address; more get 429, LiteLLM 503; default 512. Without TRUSTED_PROXIES all clients behind a proxy share its address',
    ),
  PUBLIC_BYTES_PER_SECOND: integerField({ min: 1000, max: 1_000_000_000 })
    .prefault('1000000')
    .describe(
      'bytes of pages and API documents per second for one address, or 30 times as many at once after a pause; more gets 429; default 1000000. Without TRUSTED_PROXIES all clients behind a proxy share its address',
    ),
});
export type GatewayConfig = z.infer<typeof gatewayConfig>;

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const bits = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) !== 0 &&
    rest.length === 0 &&
    (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
  );
}
