export { startCephServer, type CephServer, type CephServerOptions } from './ceph/index.ts'
export type { Gateway, GatewayStartOptions } from './ceph/gateway.ts'
export { startR2Server, type R2ServerOptions } from './r2.ts'
export {
  clientConfig,
  s3ServerNames,
  type S3Connection,
  type S3Credentials,
  type S3Server,
  type S3ServerName,
} from './server.ts'
