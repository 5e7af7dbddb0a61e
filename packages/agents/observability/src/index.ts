export { createAuditLog, type AuditLog } from './audit-log.ts'
