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
    'origin that browsers reach the gateway at, such as https://tollkeeper.example.com; writes from pages of other origins are refused',
  ),
  TRUSTED_PROXIES: listField()
    .refine((networks) => networks.every(isNetwork), 'must be IP addresses or CIDR ranges')
    .prefault('')
    .describe(
      'addresses and CIDR ranges of the proxies in front, separated by commas, whose X-Forwarded-For is believed; default none',
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
    .describe('milliseconds that an answer about a session is used again, at most 5000; default 5000'),
  UPSTREAM_TIMEOUT_MS: integerField({ min: 100, max: 300_000 })
    .prefault('30000')
    .describe('milliseconds that a service may stay silent before the answer is 504; default 30000'),
  LOGIN_ATTEMPTS_PER_MINUTE: integerField({ min: 1, max: 100_000 })
    .prefault('60')
    .describe('logins from one address in a minute, good or bad, before the answer is 429; default 60'),
  IN_FLIGHT_PER_SENDER: integerField({ min: 1, max: 1024 })
    .prefault('256')
    .describe(
      'requests that one user, or one workspace key in one area, may have in flight at once; more get 429; default 256',
    ),
  IN_FLIGHT_PER_ADDRESS: integerField({ min: 1, max: 4096 })
    .prefault('512')
    .describe(
      'requests that one address may have in flight at once; more get 429; default 512. Without TRUSTED_PROXIES all who come through a proxy have its address',
    ),
  PUBLIC_BYTES_PER_SECOND: integerField({ min: 1000, max: 1_000_000_000 })
    .prefault('1000000')
    .describe(
      'bytes of pages and API documents that one address may take a second, and 30 times as many at once after a pause; beyond it 429; default 1000000. Without TRUSTED_PROXIES all who come through a proxy have its address',
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
