export { startCephServer, type CephServer, type CephServerOptions } from './ceph/index.ts'
export type { Gateway, GatewayStartOptions } from './ceph/gateway.ts'
export { startFaultProxy, type FaultProxy, type FaultProxyOptions } from './proxy/proxy.ts'
export type { Fault, FaultPlan, FaultTime } from './proxy/faults.ts'
export type { ProxiedRequest, RecordedRequest } from './proxy/request.ts'
export { seededRandom } from '../random.ts'
export { seededFaults, type SeededFaultsOptions } from './proxy/seeded.ts'
export { startR2Server, type R2ServerOptions } from './r2.ts'
export {
  clientConfig,
  s3ServerNames,
  type S3Connection,
  type S3Credentials,
  type S3Server,
  type S3ServerName,
  watchRequests,
} from './server.ts'
