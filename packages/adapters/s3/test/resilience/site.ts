import type { StorageAdapter } from '@ws/core/adapter'
import type { S3Connection } from '@ws/test-fixtures/s3'
import { deep } from '@ws/test-fixtures'
import { createS3Adapter, probeS3Dialect, type S3AdapterOptions, type S3Dialect } from '../../src/index.ts'

/** Milliseconds for a test that makes hundreds or thousands of requests, on a machine that has other things to do too. */
export const longTimeout = deep ? 1_200_000 : 240_000

type Settings = Partial<Pick<S3AdapterOptions, 'prefix' | 'partBytes' | 'attemptTimeout' | 'deadline' | 'dialect'>>

/** An adapter on the bucket of a server, or of the proxy in front of one. */
export async function adapterOn(connection: S3Connection, settings: Settings = {}): Promise<StorageAdapter> {
  return createS3Adapter({ ...optionsFor(connection), ...settings })
}

/** The server's dialect, for adapters that are to ask nothing at their start. */
export async function dialectOf(connection: S3Connection): Promise<S3Dialect> {
  return probeS3Dialect(optionsFor(connection))
}

/** Several adapters that know nothing of one another, as in as many processes; the server is asked once what it honours. */
export async function adaptersOn(connection: S3Connection, count: number, settings: Settings = {}) {
  const dialect = await dialectOf(connection)
  return Promise.all(Array.from({ length: count }, () => adapterOn(connection, { ...settings, dialect })))
}

function optionsFor({ bucket, endpoint, region, credentials }: S3Connection) {
  return { bucket, endpoint, region, credentials, forcePathStyle: true }
}
