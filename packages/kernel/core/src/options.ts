// For authors of factories: checks options in the same way as the core.
import './node-version.ts'

export { checkOption, checkOptions, refuseBeside } from './options/check.ts'
export { nearestName } from './options/nearest.ts'
export { quietly } from './options/quietly.ts'
export * as s3Options from './options/s3-options.ts'
export type { S3Connection, S3Credentials } from './options/s3-connection.ts'
export { hasMethods, option } from './options/shapes.ts'
export type { OptionShape, OptionShapes } from './options/shapes.ts'
