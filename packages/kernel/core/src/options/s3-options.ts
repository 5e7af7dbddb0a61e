export { bucketShape as bucket, prefixShape as prefix, s3ConnectionShapes as connection } from './s3-connection.ts'
export { isS3Credentials as isCredentials } from './s3-connection.ts'
