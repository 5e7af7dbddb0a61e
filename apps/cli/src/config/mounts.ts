import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'

import { UsageError } from '../errors.ts'
import { checkBucketName, checkEndpoint, checkPrefix } from '../storage/bucket.ts'
import { storageOfFlags, type StorageFlags } from '../storage/flags.ts'
import type { StorageSettings } from '../storage/settings.ts'
import type { LoadedConfig } from './load.ts'
import type { MountConfig } from './schema.ts'
import { checkMountPoint } from '../usage.ts'

export interface MountSettings {
  readonly at: string
  readonly storage: StorageSettings
  readonly access?: 'read-write' | 'read-only' | undefined
}

export interface MountFlags extends StorageFlags {
  readonly at?: string
}

/** The default path of the first mount. At `/`, a project's directories such as `bin` and `lib` would conflict with the system's. */
export const defaultPlace = '/workspace'

/** Resolves mounts. Storage options and `--at` override the first mount. @param place default path of the first mount */
export function resolveMounts(flags: MountFlags, config: LoadedConfig | undefined, place: string): MountSettings[] {
  const named = storageOfFlags(flags)
  const [first, ...others] = (config?.mounts ?? []).map(
    (mount, index): MountSettings => ({
      at: checkMountPoint(mount.at, `--config: mounts[${index}].at`),
      storage: storageOfConfig(mount, config?.directory ?? '.', `--config: mounts[${index}]`),
      access: mount.access,
    }),
  )
  const storage = named ?? first?.storage
  if (storage === undefined) return []
  const at = flags.at === undefined ? (first?.at ?? place) : checkMountPoint(flags.at, '--at')
  return [{ at, storage, access: first?.access }, ...others]
}

export const ownPathOf = (directory: string): string => realpathSync(directory)

/** Moves a mount to the real path of its directory, where executors without a view show it. A missing directory stays where it is. */
export function atOwnPath(mount: MountSettings): MountSettings {
  if (mount.storage.kind !== 'local') return mount
  try {
    return { ...mount, at: checkMountPoint(ownPathOf(mount.storage.root), '--root') }
  } catch (error) {
    if (error instanceof UsageError) throw error
    return mount // opening the workspace reports the directory
  }
}

function storageOfConfig({ root, s3, r2, rclone }: MountConfig, directory: string, place: string): StorageSettings {
  if (s3 !== undefined) {
    const { endpoint } = s3
    return {
      ...s3,
      ...bucketOf(s3, `${place}.s3`, directory),
      kind: 's3',
      endpoint: endpoint === undefined ? undefined : checkEndpoint(endpoint, `${place}.s3.endpoint`),
    }
  }
  if (r2 !== undefined) {
    const { accountId, endpoint = '' } = r2
    const location =
      accountId === undefined ? { endpoint: checkEndpoint(endpoint, `${place}.r2.endpoint`) } : { accountId }
    return { ...bucketOf(r2, `${place}.r2`, directory), kind: 'r2', location }
  }
  if (rclone !== undefined) {
    const { endpoint, directory: cache } = rclone
    const { symlinks: _links, replica: _none, ...named } = bucketOf(rclone, `${place}.rclone`, directory)
    return {
      ...rclone,
      ...named,
      kind: 'rclone',
      endpoint: endpoint === undefined ? undefined : checkEndpoint(endpoint, `${place}.rclone.endpoint`),
      directory: cache === undefined ? undefined : resolve(directory, cache),
    }
  }
  if (root === undefined) throw new UsageError(`${place}: names no storage`)
  return { kind: 'local', root: resolve(directory, root), shown: root }
}

type BucketConfig = Pick<
  NonNullable<MountConfig['s3']>,
  'bucket' | 'prefix' | 'symlinks' | 'credentialsFrom' | 'replica'
>

/** @param directory the directory of the config file */
function bucketOf(
  {
    bucket,
    prefix = '',
    replica,
    symlinks = replica === undefined ? 'off' : 'rclonelink',
    credentialsFrom,
  }: BucketConfig,
  place: string,
  directory: string,
) {
  return {
    bucket: checkBucketName(bucket, `${place}.bucket`),
    prefix: checkPrefix(prefix, `${place}.prefix`),
    symlinks,
    credentialsFrom,
    replica: replica === undefined ? undefined : resolve(directory, replica),
    shown: prefix === '' ? bucket : `${bucket}/${prefix}`,
  }
}
