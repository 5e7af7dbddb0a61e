import { type RcloneBucket, type RcloneAdapterOptions, openRcloneBucket } from '@ws/adapter-rclone'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import type { S3Server, S3ServerName } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'

/** The components that mounting a bucket of Ceph takes. */
export const mountNeeds = [component('radosgw'), component('rclone'), component('fuse')]

export interface MountedBucket extends AsyncDisposable {
  readonly bucket: RcloneBucket
  readonly server: S3Server
  /** Where caches and mount points are. */
  readonly directory: string
  readonly options: RcloneAdapterOptions
}

/** A fresh bucket of a server, mounted for an ordinary user. */
export async function mountBucket(
  options: Partial<RcloneAdapterOptions> = {},
  on: S3ServerName = 'ceph',
): Promise<MountedBucket> {
  const server = await sharedS3Server(on)
  const scratch = await createScratchDirectory({ prefix: 'ws-rclone-' })
  const { endpoint, region, credentials, bucket: name } = server
  const all: RcloneAdapterOptions = {
    endpoint,
    region,
    credentials,
    provider: on === 'ceph' ? 'Ceph' : 'Cloudflare',
    bucket: name,
    owner: ordinaryOwner(),
    directory: scratch.path,
    timeouts: { writeBack: 100 },
    ...options,
  }
  const bucket = await openRcloneBucket(all)
  return {
    bucket,
    server,
    directory: scratch.path,
    options: all,
    async [Symbol.asyncDispose]() {
      try {
        await bucket.close()
      } finally {
        await server.close()
        await scratch.remove()
      }
    },
  }
}
