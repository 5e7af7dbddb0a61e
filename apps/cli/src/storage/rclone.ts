import { type RcloneAdapterOptions, createRcloneAdapter } from '@ws/adapter-rclone'
import type { StorageAdapter } from '@ws/core/adapter'

import { UsageError } from '../errors.ts'
import { checkEndpoint } from './bucket.ts'
import type { StorageOptions } from './open.ts'
import type { RcloneSettings } from './settings.ts'

/** Mounts what the settings name. Closing the adapter uploads everything, and unmounts. */
export async function openMount(settings: RcloneSettings, options: StorageOptions): Promise<StorageAdapter> {
  return await createRcloneAdapter(mountOptionsOf(settings, options))
}

export function mountOptionsOf(
  settings: RcloneSettings,
  { owner, readOnly, directory }: StorageOptions,
): RcloneAdapterOptions {
  const { bucket, prefix, region, forcePathStyle } = settings
  const endpoint = endpointOf(settings)
  return {
    s3: {
      endpoint,
      region: region ?? process.env['AWS_REGION'] ?? 'us-east-1',
      credentials: credentialsOf(settings),
      forcePathStyle,
    },
    bucket,
    prefix,
    owner: owner ?? ownUser(),
    readOnly,
    directory: directory ?? settings.directory,
    onEvent: ({ kind, detail }) => {
      if (kind !== 'recovered') process.stderr.write(`ws: rclone: ${detail}\n`)
    },
  }
}

/** Files of root's own mount belong to root, and no command runs there: then one has to be given. */
function ownUser(): StorageOptions['owner'] {
  const uid = process.getuid?.() ?? 0
  return uid === 0 ? undefined : { uid, gid: process.getgid?.() ?? uid }
}

/** rclone has no idea where the AWS SDK would look. */
function endpointOf({ endpoint, region }: RcloneSettings): string {
  if (endpoint !== undefined) return endpoint
  const variable = ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'].find((name) => (process.env[name] ?? '') !== '')
  if (variable !== undefined) return checkEndpoint(process.env[variable] ?? '', variable)
  return `https://s3.${region ?? process.env['AWS_REGION'] ?? 'us-east-1'}.amazonaws.com`
}

function credentialsOf({ credentialsFrom }: RcloneSettings) {
  const names = credentialsFrom ?? {
    accessKeyId: 'AWS_ACCESS_KEY_ID',
    secretAccessKey: 'AWS_SECRET_ACCESS_KEY',
    sessionToken: 'AWS_SESSION_TOKEN',
  }
  const accessKeyId = process.env[names.accessKeyId] ?? ''
  const secretAccessKey = process.env[names.secretAccessKey] ?? ''
  const sessionToken = names.sessionToken === undefined ? undefined : process.env[names.sessionToken]
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new UsageError(
      'rclone: there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or name variables as ' +
        '`credentialsFrom` in a config file',
    )
  }
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken === '' ? undefined : sessionToken }
}
