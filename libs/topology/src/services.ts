import { AUDIT_TOPIC, DELIVERIES_TOPIC, GATEWAY_EVENTS_TOPIC, NOTIFICATIONS_TOPIC } from '@tollkeeper/contracts';
import type { ServiceEntry } from './entry.ts';

/** Every service of Tollkeeper in start order: called services come first where possible, the edge last. */
export const SERVICES = [
  'identity',
  'keys',
  'budgets',
  'ingest',
  'enforcer',
  'dashboard',
  'notifier',
  'alerts',
  'console',
  'audit',
  'gateway',
] as const;
export type ServiceName = (typeof SERVICES)[number];

/**
 * How the services fit together. The standalone and the fleet are made from this table; docker-compose.yml, the
 * manifests, the network policies and the documentation are compared with it. docs/new-service.md says how to add a
 * service.
 */
export const TOPOLOGY: Readonly<Record<ServiceName, ServiceEntry<ServiceName>>> = {
  /** Users, sessions, workspaces, members and agents. */
  identity: {
    serves: ['http', 'grpc'],
    open: [],
    calls: {},
    reads: [GATEWAY_EVENTS_TOPIC],
    writes: [AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET', 'FIRST_OWNER_EMAIL', 'FIRST_OWNER_PASSWORD', 'OIDC_PROVIDERS', 'SMTP_URL'],
    settings: [
      'PUBLIC_URL',
      'FIRST_WORKSPACE_SLUG',
      'OIDC_TRUSTED_DOMAINS',
      'OIDC_SIGN_UP',
      'OIDC_STRICT',
      'PASSWORD_LOGIN',
      'PASSWORD_LOGIN_BREAK_GLASS',
      'MAIL_FROM',
    ],
    // The OpenID Connect providers.
    internet: true,
    memoryMib: 512,
  },
  /** Workspace keys. */
  keys: {
    serves: ['http', 'grpc'],
    open: [],
    calls: {},
    reads: [],
    writes: [AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: [],
    internet: false,
    memoryMib: 384,
  },
  /** Budgets of workspaces, agents and plans, and prices of workspaces. */
  budgets: {
    serves: ['http', 'grpc'],
    open: [],
    calls: { grpc: ['identity'] },
    reads: [],
    writes: [GATEWAY_EVENTS_TOPIC, AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: [],
    internet: false,
    memoryMib: 384,
  },
  /** Takes events and telemetry from agent gateways. */
  ingest: {
    serves: ['http', 'otlp'],
    // Reporters send OTLP over gRPC with a workspace key, in the cluster or through an ingress.
    open: ['otlp'],
    calls: { grpc: ['keys', 'identity', 'budgets'] },
    reads: [],
    writes: [GATEWAY_EVENTS_TOPIC],
    mongodb: false,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: [],
    internet: false,
    memoryMib: 640,
  },
  /** What was spent and blocked. */
  dashboard: {
    serves: ['http', 'grpc'],
    open: [],
    calls: { grpc: ['identity', 'budgets', 'enforcer'] },
    reads: [GATEWAY_EVENTS_TOPIC],
    writes: [GATEWAY_EVENTS_TOPIC, AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET', 'CHANNEL_ENCRYPTION_KEYS'],
    settings: ['DESTINATION_ALLOW_CIDRS'],
    // The buckets of scheduled exports.
    internet: true,
    memoryMib: 512,
  },
  /** Channels, and the delivery of notifications to them. */
  notifier: {
    serves: ['http', 'grpc'],
    open: [],
    calls: { grpc: ['identity'] },
    reads: [NOTIFICATIONS_TOPIC],
    writes: [DELIVERIES_TOPIC, AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET', 'CHANNEL_ENCRYPTION_KEYS', 'SMTP_URL'],
    settings: ['PUBLIC_URL', 'DESTINATION_ALLOW_CIDRS', 'MAIL_FROM'],
    internet: true,
    memoryMib: 384,
  },
  /** Alert rules, their evaluation and history. */
  alerts: {
    serves: ['http'],
    open: [],
    calls: { grpc: ['identity', 'budgets', 'notifier'] },
    reads: [GATEWAY_EVENTS_TOPIC, DELIVERIES_TOPIC],
    writes: [NOTIFICATIONS_TOPIC, AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: [],
    internet: false,
    memoryMib: 768,
  },
  /** Approves spend before a call, so that budgets hold. */
  enforcer: {
    serves: ['http', 'grpc'],
    // Agent gateways in the cluster call it too, with a workspace key.
    open: ['grpc'],
    calls: { grpc: ['keys', 'budgets', 'identity', 'dashboard'] },
    reads: [GATEWAY_EVENTS_TOPIC],
    writes: [GATEWAY_EVENTS_TOPIC, AUDIT_TOPIC],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: [],
    internet: false,
    memoryMib: 768,
  },
  /** The console, the pages for people in a browser. */
  console: {
    serves: ['http'],
    open: [],
    calls: {},
    reads: [],
    writes: [],
    mongodb: false,
    secrets: [],
    settings: [],
    internet: false,
    memoryMib: 384,
  },
  /** Who changed what, by workspace. */
  audit: {
    serves: ['http'],
    open: [],
    calls: {},
    reads: [AUDIT_TOPIC],
    writes: [],
    mongodb: true,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: [],
    internet: false,
    memoryMib: 384,
  },
  /** The edge. */
  gateway: {
    serves: ['http'],
    open: ['http'],
    calls: {
      grpc: ['identity'],
      http: [
        'identity',
        'dashboard',
        'budgets',
        'alerts',
        'notifier',
        'keys',
        'ingest',
        'enforcer',
        'audit',
        'console',
      ],
    },
    reads: [],
    writes: [],
    mongodb: false,
    secrets: ['CALLER_TOKEN_SECRET'],
    settings: ['PUBLIC_URL'],
    internet: false,
    memoryMib: 512,
  },
};

/** Whether the service reads or writes the event log. */
export function usesLog(service: ServiceName): boolean {
  const { reads, writes } = TOPOLOGY[service];
  return reads.length + writes.length > 0;
}

/** The services behind the edge, from its own list. */
export function behindTheEdge(): readonly ServiceName[] {
  return TOPOLOGY.gateway.calls.http ?? [];
}
