export { type AuditConfig, auditConfig } from './config.ts';
export { entryAfter, type Place } from './domain/entry.ts';
export { createRecordStore } from './store/record.store.ts';
export { createAudit, type AuditDeps, type AuditService } from './audit.service.ts';
export { runVerifyCommand, verifyCommandConfig } from './verify.command.ts';
