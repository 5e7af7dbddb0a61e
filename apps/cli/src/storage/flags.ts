import { resolve } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { checkEndpoint, parseBucket } from './bucket.ts'
import type { StorageSettings } from './settings.ts'

/** Storage options as the user typed them: at most one kind. */
export interface StorageFlags {
  readonly root?: string
  readonly s3?: string
  readonly rclone?: string
  readonly s3Endpoint?: string
  readonly s3Region?: string
  readonly replica?: string
}

/** The storage that options name; `undefined` without storage options. @throws UsageError */
export function storageOfFlags(flags: StorageFlags): StorageSettings | undefined {
  const { root, s3, rclone, s3Endpoint, s3Region, replica } = flags
  const named = Object.entries({ root, s3, rclone }).filter(([, value]) => value !== undefined)
  if (named.length > 1) {
    const [one, other] = named.map(([name]) => `--${name}`)
    throw new UsageError(
      `${one} and ${other} both name the workspace; give one of them, and a config file for several mounts`,
    )
  }
  const bucket = s3 ?? rclone
  if (bucket === undefined && (s3Endpoint !== undefined || s3Region !== undefined)) {
    const flag = s3Endpoint === undefined ? '--s3-region' : '--s3-endpoint'
    throw new UsageError(`${flag}: means nothing without --s3 BUCKET; in a config file it belongs to the mount`)
  }
  if (replica !== undefined && s3 === undefined)
    throw new UsageError('--replica: means nothing without --s3 BUCKET; in a config file it belongs to the mount')
  if (replica === '' || replica?.includes('\0') === true)
    throw new UsageError(`--replica: ${quotePath(replica)} is not the name of a directory; give one for the copy`)
  if (root !== undefined) {
    if (root === '' || root.includes('\0')) {
      throw new UsageError(`--root: ${quotePath(root)} is not the name of a directory; give the workspace's directory`)
    }
    return { kind: 'local', root: resolve(root), shown: root }
  }
  if (bucket === undefined) return undefined
  if (s3Region === '') throw new UsageError('--s3-region: is empty; give a region such as eu-central-1')
  const connection = {
    ...parseBucket(bucket, s3 === undefined ? '--rclone' : '--s3'),
    endpoint: s3Endpoint === undefined ? undefined : checkEndpoint(s3Endpoint, '--s3-endpoint'),
    region: s3Region,
    shown: bucket,
  }
  if (s3 === undefined) return { kind: 'rclone', ...connection }
  if (replica === undefined) return { kind: 's3', ...connection, symlinks: 'off' }
  return { kind: 's3', ...connection, symlinks: 'rclonelink', replica: resolve(replica) }
}
