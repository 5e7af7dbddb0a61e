export { createR2Adapter, createS3Adapter, probeS3Dialect } from './create.ts'
export type { S3Dialect } from './dialect/dialect.ts'
export type * from './options.ts'
export type * from './reports.ts'
