import { enforcerConfig } from '@tollkeeper/enforcer';
import { eventLogConfig, kafkaFields } from '@tollkeeper/event-log';
import { gatewayConfig } from '@tollkeeper/gateway';
import { identityConfig } from '@tollkeeper/identity';
import { ingestConfig } from '@tollkeeper/ingest';
import { cidrTextField } from '@tollkeeper/net';
import { flagField, portField, secret, serviceConfig, tracingFields } from '@tollkeeper/runtime';
import { z } from 'zod';

/** A setting that identity parses itself. It is passed on as text, but errors are reported here already. */
function ofIdentity(field: z.ZodType, description = z.globalRegistry.get(field)?.description ?? '') {
  return z
    .string()
    .optional()
    .superRefine((text, context) => {
      for (const { message } of field.safeParse(text).error?.issues ?? []) {
        context.addIssue({ code: 'custom', message });
      }
    })
    .describe(description);
}

const trustedProxies = gatewayConfig.shape.TRUSTED_PROXIES;

/** Environment of the standalone. `MONGOD_BINARY` is read by the search for `mongod`. */
export const standaloneConfig = z.object({
  PORT: portField().prefault('8080').describe('port of the API; 0 for a free one; default 8080'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on; default 127.0.0.1, this machine only'),
  OPS_PORT: portField()
    .prefault('9464')
    .describe('port of /healthz, /readyz and /metrics, on loopback; 0 for a free one; default 9464'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('public origin of Tollkeeper, such as https://tollkeeper.example.com; default http://localhost:PORT'),
  TRUSTED_PROXIES: z
    .string()
    .default('')
    .refine((text) => trustedProxies.safeParse(text).success, 'must be IP addresses or CIDR ranges')
    .describe(
      'IP addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted, separated by commas; default none',
    ),
  TOLLKEEPER_DATA_DIR: z.string().default('.tollkeeper').describe('data directory; default .tollkeeper'),
  TOLLKEEPER_CACHE_DIR: z.string().optional().describe("directory for a downloaded mongod; default the user's cache"),
  MONGODB_URI: secret(
    z
      .string()
      .regex(/^mongodb(\+srv)?:\/\//, 'must be a mongodb:// or mongodb+srv:// address')
      .optional()
      .describe('MongoDB replica set to use instead of the managed mongod'),
  ),
  EVENT_LOG_MIN_FREE_BYTES: eventLogConfig.EVENT_LOG_MIN_FREE_BYTES,
  ...kafkaFields,
  TOLLKEEPER_OWNER_EMAIL: z
    .email('must be an e-mail address')
    .default('owner@example.com')
    .describe('e-mail of the owner created at the first start; default owner@example.com'),
  TOLLKEEPER_OWNER_PASSWORD: secret(
    z
      .string()
      .min(12, 'must have at least 12 characters')
      .max(200, 'must have at most 200 characters')
      .optional()
      .describe('password of the owner created at the first start, 12 to 200 characters; default a random one'),
  ),
  OIDC_PROVIDERS: secret(ofIdentity(identityConfig.shape.OIDC_PROVIDERS)),
  OIDC_TRUSTED_DOMAINS: ofIdentity(identityConfig.shape.OIDC_TRUSTED_DOMAINS),
  OIDC_SIGN_UP: ofIdentity(identityConfig.shape.OIDC_SIGN_UP),
  OIDC_STRICT: ofIdentity(identityConfig.shape.OIDC_STRICT),
  PASSWORD_LOGIN: ofIdentity(identityConfig.shape.PASSWORD_LOGIN),
  PASSWORD_LOGIN_BREAK_GLASS: ofIdentity(
    identityConfig.shape.PASSWORD_LOGIN_BREAK_GLASS,
    'login name of the owner who may log in with a password when PASSWORD_LOGIN is none; default TOLLKEEPER_OWNER_EMAIL',
  ),
  SMTP_URL: secret(ofIdentity(identityConfig.shape.SMTP_URL)),
  MAIL_FROM: ofIdentity(identityConfig.shape.MAIL_FROM),
  TOLLKEEPER_DEMO: flagField()
    .prefault('true')
    .describe('true for sample history at the first start and slow live traffic, false for an empty workspace'),
  TOLLKEEPER_DEMO_KEY_FILE: z.string().optional().describe('file to which the first developer key is also written'),
  TOLLKEEPER_ALLOW_CIDRS: cidrTextField().describe(
    'private or special networks that alert channels may send to; default none',
  ),
  WORKSPACE_EVENTS_PER_SECOND: ingestConfig.shape.WORKSPACE_EVENTS_PER_SECOND,
  WORKSPACE_BURST_EVENTS: ingestConfig.shape.WORKSPACE_BURST_EVENTS,
  WORKSPACE_BYTES_PER_SECOND: ingestConfig.shape.WORKSPACE_BYTES_PER_SECOND,
  WORKSPACE_BURST_BYTES: ingestConfig.shape.WORKSPACE_BURST_BYTES,
  PRICES_FILE: ingestConfig.shape.PRICES_FILE,
  PRICES_URL: ingestConfig.shape.PRICES_URL,
  WORKSPACE_CALLS_PER_SECOND: enforcerConfig.shape.WORKSPACE_CALLS_PER_SECOND,
  WORKSPACE_BURST_CALLS: enforcerConfig.shape.WORKSPACE_BURST_CALLS,
  ENFORCER_GRPC_PORT: portField()
    .prefault('0')
    .describe('port on 127.0.0.1 for gateways that reserve over gRPC, such as 9090; default any free port'),
  OTLP_PORT: portField()
    .prefault('4317')
    .describe('port on 127.0.0.1 for OTLP over gRPC; another one if it is taken; 0 for any free port; default 4317'),
  LOG_LEVEL: serviceConfig.shape.LOG_LEVEL.unwrap()
    .default('warn')
    .describe('fatal, error, warn, info, debug, trace or silent; default warn'),
  ...tracingFields,
});
export type StandaloneConfig = z.infer<typeof standaloneConfig>;
