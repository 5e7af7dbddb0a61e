import { createWorkspace, type CheckpointEngine, type Workspace } from '@ws/core'

import { createExecutor, type ExecutorName } from './config/executors.ts'
import { neededBy } from './config/needed.ts'
import type { Settings } from './config/settings.ts'
import { UsageError } from './errors.ts'
import { checkInstalled } from './optional/load.ts'
import { openStorage } from './storage/open.ts'

export interface OpenOptions {
  readonly signal: AbortSignal
  /** Executors for commands; `undefined` if only file operations are needed. */
  readonly executors: readonly ExecutorName[] | undefined
  /** True if nothing will change: the right to read is then sufficient. */
  readonly readOnly?: boolean | undefined
  readonly checkpoints?: CheckpointEngine | undefined
}

export async function openWorkspace(
  settings: Settings,
  { signal, executors, readOnly = false, checkpoints }: OpenOptions,
): Promise<Workspace> {
  if (settings.mounts.length === 0) {
    throw new UsageError(
      'no workspace is named; give --root DIR (`--root .` for this directory), --s3 or --rclone BUCKET/PREFIX, or --config FILE',
    )
  }
  const { mounts, owner, rules, aliases, commands, executorOptions } = settings
  checkInstalled(neededBy({ mounts, executors }))
  const chosen = executors?.map((name) => createExecutor(name, executorOptions))
  return await createWorkspace({
    mounts: mounts.map(({ at, storage, access }) => ({
      at,
      adapter: () => {
        // a mount below this mount may need a new directory in this mount
        const isChanged = !readOnly || mounts.some((other) => other.at !== at && isBelow(other.at, at))
        return openStorage(storage, { owner, readOnly: access === 'read-only' || !isChanged })
      },
      access,
    })),
    rules,
    executors: chosen === undefined ? undefined : await Promise.all(chosen),
    require: executors ? settings.require : undefined,
    aliases,
    commands,
    checkpoints,
    signal,
  })
}

const isBelow = (path: string, at: string): boolean => at === '/' || path.startsWith(`${at}/`)
