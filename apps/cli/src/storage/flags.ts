import { resolve } from 'node:path'

import { quotePath } from '@ws/core'

import { UsageError } from '../errors.ts'
import { checkEndpoint, parseBucket } from './bucket.ts'
import type { StorageSettings } from './settings.ts'

/** The global options that say where the files are, as they were typed: at most one kind of storage. */
export interface StorageFlags {
  readonly root?: string
  readonly s3?: string
  readonly s3Endpoint?: string
  readonly s3Region?: string
}

/** `undefined` where no storage is named. Throws UsageError. */
export function storageOfFlags(flags: StorageFlags): StorageSettings | undefined {
  const { root, s3, s3Endpoint, s3Region } = flags
  if (root !== undefined && s3 !== undefined) {
    throw new UsageError(
      '--root and --s3 both name the workspace; give one of them, and a config file for several mounts',
    )
  }
  if (s3 === undefined && (s3Endpoint !== undefined || s3Region !== undefined)) {
    const flag = s3Endpoint === undefined ? '--s3-region' : '--s3-endpoint'
    throw new UsageError(`${flag}: means nothing without --s3 BUCKET; in a config file it belongs to the mount`)
  }
  if (root !== undefined) {
    if (root === '' || root.includes('\0')) {
      throw new UsageError(`--root: ${quotePath(root)} is no directory name; give the workspace's directory`)
    }
    return { kind: 'local', root: resolve(root), shown: root }
  }
  if (s3 === undefined) return undefined
  if (s3Region === '') throw new UsageError('--s3-region: is empty; give a region such as eu-central-1')
  return {
    kind: 's3',
    ...parseBucket(s3, '--s3'),
    endpoint: s3Endpoint === undefined ? undefined : checkEndpoint(s3Endpoint, '--s3-endpoint'),
    region: s3Region,
    symlinks: 'off',
    shown: s3,
  }
}
