import { isWorkspaceError, quotePath } from '@ws/core'
import { rewriteError, type Owner, type StorageAdapter } from '@ws/core/adapter'

import type { R2Settings, S3Settings, StorageSettings } from './settings.ts'

export interface StorageOptions {
  /** The user that owns new files in a directory of this machine. */
  readonly owner: Owner | undefined
  /** Nothing will be changed: a store is then not asked what it honours, which takes the right to write. */
  readonly readOnly?: boolean | undefined
  /** Where a mount has its cache, or a bucket its copy: a host path. Default: that of the settings. */
  readonly directory?: string | undefined
}

type Maker<Kind extends StorageSettings['kind']> = (
  settings: Extract<StorageSettings, { kind: Kind }>,
  options: StorageOptions,
) => Promise<StorageAdapter>

/** Each is loaded when it is asked for: the AWS SDK alone takes longer than what most commands do. */
const makers: { readonly [Kind in StorageSettings['kind']]: Maker<Kind> } = {
  async local({ root }, { owner }) {
    const { createLocalAdapter } = await import('@ws/adapter-local')
    return await createLocalAdapter({ root, owner })
  },
  s3: openBucketOrCopy,
  r2: openBucketOrCopy,
  async rclone(settings, options) {
    const { openMount } = await import('./rclone.ts')
    return await openMount(settings, options)
  },
}

async function openBucketOrCopy(
  settings: S3Settings | R2Settings,
  { readOnly, owner, directory = settings.replica }: StorageOptions,
): Promise<StorageAdapter> {
  const { openBucket } = await import('./s3.ts')
  if (settings.replica === undefined) return await openBucket(settings, { readOnly })
  const { openCopy } = await import('./replica.ts')
  return await openCopy({ store: () => openBucket(settings), directory, owner })
}

/** The adapter on a storage. Of this machine and of the store an error names only what the user typed. */
export async function openStorage(settings: StorageSettings, options: StorageOptions): Promise<StorageAdapter> {
  try {
    const make = makers[settings.kind] as Maker<StorageSettings['kind']>
    return await make(settings, options)
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    const reason = `${quotePath(settings.shown)}: ${error.reason}`
    throw rewriteError(error, { operation: 'open', path: undefined, reason })
  }
}
