export * from './access-log.message.ts';
export * from './agent-programs.ts';
export * from './alert-records.ts';
export * from './api/alert.ts';
export * from './api/budgets.ts';
export * from './api/labels.ts';
export * from './api/lease.ts';
export * from './api/primitives.ts';
export * from './api/raises.ts';
export * from './api/report-mapping.ts';
export * from './api/reservation.ts';
export * from './audit-changes.ts';
export * from './audit-records.ts';
export * from './call-ids.ts';
export * from './channel-records.ts';
export * from './cursor.ts';
export * from './event-record.ts';
export {
  budgetPercent,
  type DenialCode,
  denialCause,
  eventType,
  isAboutEarlier,
  isOwnType,
  type KnownEventType,
  limitOfBudget,
  raisedLimit,
} from './event-schemas.ts';
export * from './events.ts';
export * from './intake-paths.ts';
export * from './log-records.ts';
export * from './proto-files.ts';
export * from './raise-link.ts';
export * from './raise-requested.ts';
export * from './service-requests.ts';
export * from './services.ts';
export {
  type CallFlag,
  modelName,
  PRICED_BY,
  priceId,
  providerName,
  serviceTier,
  settlementId,
  tokens,
} from './spend-settled.ts';
export * from './validation.ts';
export * from './workspace-key.ts';
