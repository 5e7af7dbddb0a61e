import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, isWorkspaceError, quotePath, rewriteError, type Workspace } from '@ws/core'

import { createExecutor, type ExecutorName } from './config/executors.ts'
import type { MountSettings, Settings } from './config/settings.ts'
import { UsageError } from './errors.ts'

export interface OpenOptions {
  readonly signal: AbortSignal
  /** In what commands will be run, if any are: file operations need no executor, so that they work where none is. */
  readonly executors: readonly ExecutorName[] | undefined
}

/** Opens the workspace that the settings describe. The caller closes it. */
export async function openWorkspace(settings: Settings, { signal, executors }: OpenOptions): Promise<Workspace> {
  if (settings.mounts.length === 0) {
    throw new UsageError('no workspace is named; give --root DIR, or --config FILE with mounts')
  }
  const { owner, rules, aliases, executorOptions } = settings
  const chosen = executors?.map((name) => createExecutor(name, executorOptions))
  return await createWorkspace({
    mounts: settings.mounts.map((mount) => ({
      at: mount.at,
      adapter: () => openDirectory(mount, owner),
      access: mount.access,
    })),
    rules,
    executors: chosen === undefined ? undefined : await Promise.all(chosen),
    require: executors ? settings.require : undefined,
    aliases,
    signal,
  })
}

/** The one host path that may be shown is what the user typed. */
async function openDirectory(mount: MountSettings, owner: Settings['owner']) {
  try {
    return await createLocalAdapter({ root: mount.root, owner })
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    throw rewriteError(error, { reason: `${quotePath(mount.shown)}: ${error.reason}` })
  }
}
