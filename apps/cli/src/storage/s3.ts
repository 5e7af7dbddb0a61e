import type { S3Dialect } from '@ws/adapter-s3'
import type { StorageAdapter } from '@ws/core/adapter'

import { loadOptional } from '../optional/load.ts'
import { endpointOfEnvironment, readCredentials } from './connection.ts'
import type { R2Settings, S3Settings } from './settings.ts'

export interface BucketOpenOptions {
  readonly readOnly?: boolean | undefined
  /** The conditions that the server honours, if known. Default: probed. */
  readonly dialect?: S3Dialect | undefined
}

export async function openBucket(
  settings: S3Settings | R2Settings,
  options: BucketOpenOptions = {},
): Promise<StorageAdapter> {
  const { createR2Adapter, createS3Adapter } = await loadOptional('@ws/adapter-s3')
  return settings.kind === 's3'
    ? await createS3Adapter({ ...optionsOf(settings), ...connectionOf(settings), ...options })
    : await createR2Adapter({ ...optionsOf(settings), ...settings.location, ...options })
}

/** Finds out which conditions the server honours. */
export async function probeBucket(settings: S3Settings | R2Settings): Promise<S3Dialect> {
  const { probeS3Dialect } = await loadOptional('@ws/adapter-s3')
  const connection =
    settings.kind === 's3'
      ? connectionOf(settings)
      : { endpoint: r2Endpoint(settings), region: 'auto', forcePathStyle: true }
  return await probeS3Dialect({ ...optionsOf(settings), ...connection })
}

const r2Endpoint = ({ location }: R2Settings): string =>
  'endpoint' in location ? location.endpoint : `https://${location.accountId}.r2.cloudflarestorage.com`

function optionsOf({ bucket, prefix, symlinks, credentialsFrom }: S3Settings | R2Settings) {
  return { bucket, prefix, symlinks, credentials: credentialsFrom && readCredentials(credentialsFrom) }
}

/** Connection options. Unlike in the SDK, buckets are part of the path: few self-hosted servers have a host name for each bucket. */
function connectionOf({ endpoint, region, forcePathStyle }: S3Settings) {
  const url = endpoint ?? endpointOfEnvironment()
  // a self-hosted server has no regions, but the signature of a request needs a region
  const regionOfUrl = url === undefined || hasRegion() ? undefined : 'us-east-1'
  return { endpoint: url, region: region ?? regionOfUrl, forcePathStyle: forcePathStyle ?? url !== undefined }
}

const hasRegion = (): boolean => ['AWS_REGION', 'AWS_PROFILE'].some((name) => (process.env[name] ?? '') !== '')
