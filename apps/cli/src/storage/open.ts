import { isWorkspaceError, quotePath } from '@ws/core'
import { rewriteError, type Owner, type StorageAdapter } from '@ws/core/adapter'

import type { R2Settings, S3Settings, StorageSettings } from './settings.ts'

export interface StorageOptions {
  /** The owner of new files in a directory of this machine. */
  readonly owner: Owner | undefined
  /** True if nothing will change: the store is then not probed, because a probe needs the right to write. */
  readonly readOnly?: boolean | undefined
  /** A host path for a mount's cache, or a bucket's copy. Default: the path in the settings. */
  readonly directory?: string | undefined
}

type Maker<Kind extends StorageSettings['kind']> = (
  settings: Extract<StorageSettings, { kind: Kind }>,
  options: StorageOptions,
) => Promise<StorageAdapter>

/** Functions that load a package on demand: the AWS SDK alone takes longer than most commands. */
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

/** Opens a storage. Errors contain only text that the user typed. */
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
