import type { RcloneAdapterOptions } from '@ws/adapter-rclone'
import type { StorageAdapter } from '@ws/core/adapter'
import type { S3Credentials } from '@ws/core/options'

import { UsageError } from '../errors.ts'
import { loadOptional } from '../optional/load.ts'
import { complainTo } from '../terminal/wrap.ts'
import { endpointOfEnvironment, readCredentials } from './connection.ts'
import type { StorageOptions } from './open.ts'
import type { RcloneSettings } from './settings.ts'

/** Mounts a bucket. Closing the adapter uploads all changes, and unmounts. */
export async function openMount(settings: RcloneSettings, options: StorageOptions): Promise<StorageAdapter> {
  const { createRcloneAdapter } = await loadOptional('@ws/adapter-rclone')
  return await createRcloneAdapter(mountOptionsOf(settings, options))
}

export function mountOptionsOf(
  settings: RcloneSettings,
  { owner, readOnly, directory }: StorageOptions,
): RcloneAdapterOptions {
  const { bucket, prefix, region = process.env['AWS_REGION'] ?? 'us-east-1', forcePathStyle } = settings
  return {
    endpoint: settings.endpoint ?? endpointOfEnvironment() ?? `https://s3.${region}.amazonaws.com`,
    region,
    credentials: credentialsOf(settings),
    forcePathStyle,
    bucket,
    prefix,
    owner: owner ?? ownUser(),
    readOnly,
    directory: directory ?? settings.directory,
    onEvent: ({ kind, detail }) => {
      if (kind !== 'recovered') complainTo(process.stderr, `rclone: ${detail}`)
    },
  }
}

/** The user of a mount. A mount by root belongs to root, and no command runs as root: root must give an owner. */
function ownUser(): StorageOptions['owner'] {
  const uid = process.getuid?.() ?? 0
  return uid === 0 ? undefined : { uid, gid: process.getgid?.() ?? uid }
}

/** Credentials from the environment: unlike the AWS SDK, rclone does not search for credentials. */
function credentialsOf({ credentialsFrom }: RcloneSettings): S3Credentials {
  if (credentialsFrom !== undefined) return readCredentials(credentialsFrom)
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = '',
    AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
    AWS_SESSION_TOKEN: sessionToken = '',
  } = process.env
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new UsageError(
      'rclone: there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name variables as ' +
        '`credentialsFrom` in a config file',
    )
  }
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken === '' ? undefined : sessionToken }
}
