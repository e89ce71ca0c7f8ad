import type { ServiceDefinition } from '@grpc/grpc-js';
import { fromJSON, type MessageTypeDefinition } from '@grpc/proto-loader';
import type { Role } from '@tollkeeper/kernel';
import { DEFAULT_REPORT_MAPPING, type ReportMapping } from './api/report-mapping.ts';
import descriptor from './gen/descriptor.json' with { type: 'json' };
import type {
  HTTPAccessLogEntry as SentAccessLogEntry,
  HTTPAccessLogEntry__Output as AccessLogEntryMessage,
} from './gen/envoy/data/accesslog/v3/HTTPAccessLogEntry.ts';
import type { AccessLogServiceDefinition } from './gen/envoy/service/accesslog/v3/AccessLogService.ts';
import type { AuthorizationDefinition } from './gen/envoy/service/auth/v3/Authorization.ts';
import type { RateLimitServiceDefinition } from './gen/envoy/service/ratelimit/v3/RateLimitService.ts';
import type { HealthDefinition } from './gen/grpc/health/v1/Health.ts';
import type { ServerReflectionDefinition } from './gen/grpc/reflection/v1/ServerReflection.ts';
import type { ServerReflectionDefinition as AlphaReflectionDefinition } from './gen/grpc/reflection/v1alpha/ServerReflection.ts';
import type { BudgetsServiceDefinition } from './gen/tollkeeper/budgets/v1/BudgetsService.ts';
import type { DashboardServiceDefinition } from './gen/tollkeeper/dashboard/v1/DashboardService.ts';
import type { EnforcerServiceDefinition } from './gen/tollkeeper/enforcer/v1/EnforcerService.ts';
import type { LeaseServiceDefinition } from './gen/tollkeeper/enforcer/v1/LeaseService.ts';
import type { LimitsServiceDefinition } from './gen/tollkeeper/enforcer/v1/LimitsService.ts';
import type { IdentityServiceDefinition } from './gen/tollkeeper/identity/v1/IdentityService.ts';
import type { WorkspaceRole__Output as WireRole } from './gen/tollkeeper/identity/v1/WorkspaceRole.ts';
import type { KeyRole__Output as WireKeyRole } from './gen/tollkeeper/keys/v1/KeyRole.ts';
import type { KeysServiceDefinition } from './gen/tollkeeper/keys/v1/KeysService.ts';
import type { ReportMapping__Output as WireReportMapping } from './gen/tollkeeper/keys/v1/ReportMapping.ts';
import type { NotifierServiceDefinition } from './gen/tollkeeper/notifier/v1/NotifierService.ts';
import type { KeyRole } from './workspace-key.ts';

export type { CheckResponse as CheckResponseMessage } from './gen/envoy/service/auth/v3/CheckResponse.ts';
export type { RateLimitDescriptor__Output as DescriptorMessage } from './gen/envoy/service/ratelimit/v3/RateLimitDescriptor.ts';
export type { RateLimitRequest__Output as RateLimitRequestMessage } from './gen/envoy/service/ratelimit/v3/RateLimitRequest.ts';
export type { RateLimitResponse as RateLimitResponseMessage } from './gen/envoy/service/ratelimit/v3/RateLimitResponse.ts';
export type { ServerReflectionRequest__Output as ReflectionRequestMessage } from './gen/grpc/reflection/v1/ServerReflectionRequest.ts';
export type { ServerReflectionResponse as ReflectionResponseMessage } from './gen/grpc/reflection/v1/ServerReflectionResponse.ts';
export type { Budget as BudgetMessage } from './gen/tollkeeper/budgets/v1/Budget.ts';
export type { Pause as PauseMessage } from './gen/tollkeeper/budgets/v1/Pause.ts';
export type { Raise as RaiseMessage } from './gen/tollkeeper/budgets/v1/Raise.ts';
export type { Price as PriceMessage } from './gen/tollkeeper/budgets/v1/Price.ts';
export type { Settlement as SettlementMessage } from './gen/tollkeeper/dashboard/v1/Settlement.ts';
export type { BudgetRisk__Output as BudgetRiskMessage } from './gen/tollkeeper/enforcer/v1/BudgetRisk.ts';
export type { Denial as DenialMessage } from './gen/tollkeeper/enforcer/v1/Denial.ts';
export type { Lease as LeaseMessage } from './gen/tollkeeper/enforcer/v1/Lease.ts';
export type { LimitStatus as LimitStatusMessage } from './gen/tollkeeper/enforcer/v1/LimitStatus.ts';
export type { Reservation as ReservationMessage } from './gen/tollkeeper/enforcer/v1/Reservation.ts';
export type { ReserveResponse as ReserveResponseMessage } from './gen/tollkeeper/enforcer/v1/ReserveResponse.ts';
export type { Agent__Output as AgentMessage } from './gen/tollkeeper/identity/v1/Agent.ts';
export type { Session__Output as SessionMessage } from './gen/tollkeeper/identity/v1/Session.ts';
export type { Workspace__Output as WorkspaceMessage } from './gen/tollkeeper/identity/v1/Workspace.ts';
export type {
  AccessLogEntryMessage,
  BudgetsServiceDefinition,
  DashboardServiceDefinition,
  EnforcerServiceDefinition,
  IdentityServiceDefinition,
  KeysServiceDefinition,
  LeaseServiceDefinition,
  LimitsServiceDefinition,
  NotifierServiceDefinition,
};

// Must match the flags with which the types are generated (scripts/generate.ts).
const services = fromJSON(descriptor as Parameters<typeof fromJSON>[0], {
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});

// The cast is safe because the drift check covers the generated types.
function service<D extends ServiceDefinition>(name: string): D {
  return services[name] as ServiceDefinition as D;
}

/** The gRPC service of budgets; budgets.proto documents its RPCs. */
export const budgetsService = service<BudgetsServiceDefinition>('tollkeeper.budgets.v1.BudgetsService');

/** The gRPC service of the dashboard; dashboard.proto documents its RPCs. */
export const dashboardService = service<DashboardServiceDefinition>('tollkeeper.dashboard.v1.DashboardService');

/** The gRPC service of the enforcer for gateways; enforcer.proto documents its RPCs. */
export const enforcerService = service<EnforcerServiceDefinition>('tollkeeper.enforcer.v1.EnforcerService');

/** The gRPC service of the enforcer for leases of gateways; enforcer.proto documents its RPCs. */
export const leaseService = service<LeaseServiceDefinition>('tollkeeper.enforcer.v1.LeaseService');

/** The gRPC service of the enforcer for our services; enforcer.proto documents its RPCs. */
export const limitsService = service<LimitsServiceDefinition>('tollkeeper.enforcer.v1.LimitsService');

/** Envoy's gRPC service that is asked before a call, and gets what it used; the enforcer's README has its entries. */
export const rateLimitService = service<RateLimitServiceDefinition>('envoy.service.ratelimit.v3.RateLimitService');

/** Envoy's gRPC service that is asked before a request passes; the enforcer's README has its headers. */
export const authorizationService = service<AuthorizationDefinition>('envoy.service.auth.v3.Authorization');

/** Envoy's gRPC service that gets the requests that have ended; `docs/proxies.md` has what is read of them. */
export const accessLogService = service<AccessLogServiceDefinition>('envoy.service.accesslog.v3.AccessLogService');

/** An entry of Envoy's access log. */
export const accessLogEntry = services['envoy.data.accesslog.v3.HTTPAccessLogEntry'] as MessageTypeDefinition<
  SentAccessLogEntry,
  AccessLogEntryMessage
>;

/** The gRPC service that says whether a server works. */
export const healthService = service<HealthDefinition>('grpc.health.v1.Health');

/** The gRPC services that describe what a server offers; the older one is for older tools. */
export const reflectionServices = [
  service<ServerReflectionDefinition>('grpc.reflection.v1.ServerReflection'),
  service<AlphaReflectionDefinition>('grpc.reflection.v1alpha.ServerReflection'),
] as const;

/** The gRPC service of identity; identity.proto documents its RPCs. */
export const identityService = service<IdentityServiceDefinition>('tollkeeper.identity.v1.IdentityService');

/** The gRPC service of keys; keys.proto documents its RPCs. */
export const keysService = service<KeysServiceDefinition>('tollkeeper.keys.v1.KeysService');

/** The gRPC service of the notifier; notifier.proto documents its RPCs. */
export const notifierService = service<NotifierServiceDefinition>('tollkeeper.notifier.v1.NotifierService');

const WIRE_ROLES = {
  member: 'WORKSPACE_ROLE_MEMBER',
  finance: 'WORKSPACE_ROLE_FINANCE',
  admin: 'WORKSPACE_ROLE_ADMIN',
  owner: 'WORKSPACE_ROLE_OWNER',
} as const satisfies Record<Role, WireRole>;

const WIRE_KEY_ROLES = {
  read_only: 'KEY_ROLE_READ_ONLY',
  developer: 'KEY_ROLE_DEVELOPER',
  admin: 'KEY_ROLE_ADMIN',
} as const satisfies Record<KeyRole, WireKeyRole>;

function invert<K extends string, V extends string>(table: Record<K, V>): Map<string, K> {
  return new Map((Object.entries(table) as [K, V][]).map(([key, value]) => [value, key]));
}

const ROLES_BY_WIRE = invert(WIRE_ROLES);
const KEY_ROLES_BY_WIRE = invert(WIRE_KEY_ROLES);

/** A workspace role in the form of identity.proto. */
export function toWireRole(role: Role): WireRole {
  return WIRE_ROLES[role];
}

/** The workspace role of a message. Null for an unknown one, which must not be guessed. */
export function fromWireRole(role: WireRole): Role | null {
  return ROLES_BY_WIRE.get(role) ?? null;
}

/** A key role in the form of keys.proto. */
export function toWireKeyRole(role: KeyRole): WireKeyRole {
  return WIRE_KEY_ROLES[role];
}

/** A mapping of reports in the form of keys.proto. */
export function toWireReportMapping({ agent, run, ...mapping }: ReportMapping): WireReportMapping {
  return { ...mapping, labels: { ...mapping.labels }, agent: agent ?? '', run: run ?? '' };
}

/** The mapping of a message; the default one if an earlier release answers without any. */
export function fromWireReportMapping(mapping: WireReportMapping | null): ReportMapping {
  if (!mapping) return DEFAULT_REPORT_MAPPING;
  const { agent, run, guard, ...others } = mapping;
  return { ...others, agent: agent || null, run: run || null, guard: guard || DEFAULT_REPORT_MAPPING.guard };
}

/** The key role of a message. Throws for an unknown one, which must not be guessed. */
export function fromWireKeyRole(role: WireKeyRole): KeyRole {
  const known = KEY_ROLES_BY_WIRE.get(role);
  if (known === undefined) throw new Error(`A message has the role ${role}, which this version does not know`);
  return known;
}
