export { type AuditConfig, auditConfig } from './config.ts';
export { createAudit, type AuditDeps, type AuditService } from './audit.service.ts';
