export { createAuditLog, type AuditLog, type AuditLogOptions } from './audit-log.ts'
