import { WorkspaceError, type CheckpointEngine } from '@ws/core'
import type { Checkpoints } from '@ws/core/adapter'
import { Thread } from '@ws/tree'

import { DiskMount } from './disk-mount.ts'
import { Attached, type OpenAttached } from './forks.ts'
import { Journal } from './journal/journal.ts'
import { MemoryLayers } from './journal/layers.ts'
import { LookedJournal } from './journal/looked.ts'
import { JournalMounts } from './journal/mounts.ts'
import type { SavedLayers } from './journal/saved-layers.ts'
import { SharedLayers } from './journal/shared.ts'
import { checkCheckpointsOptions, type CheckpointsOptions } from './options.ts'
import { refuseStateInside } from './outside.ts'
import type { Methods, WorkerData } from './worker/protocol.ts'

const operation = 'createWorkspace'

/**
 * An engine for `checkpoints` of `createWorkspace`, shared by any number of workspaces of this process.
 * Disk mounts and buckets are saved in the state directory, for later processes too; mounts in memory are saved in memory.
 * Writable mounts of stores without conditions are refused when the workspace is made.
 * @throws WorkspaceError `EINVAL` that names the option
 */
export function createCheckpoints(options: CheckpointsOptions = {}): CheckpointEngine {
  const { stateDirectory, automatic, maxBytes, maxFileBytes, maxAge } = checkCheckpointsOptions(options)
  let thread: Thread<Methods> | undefined
  const shared = new SharedLayers()
  let users = 0
  const release = async (saved: readonly SavedLayers[]): Promise<void> => {
    const unused = await shared.close(saved)
    // an ended thread holds no journals
    if (unused.length > 0) await thread?.ask('shut', unused).catch(() => undefined)
    users -= 1
    if (users > 0) return
    const last = thread
    thread = undefined
    await last?.close()
  }
  const open: OpenAttached = async (mounts, directories, fork) => {
    for (const mount of mounts) refuseUnsavable(mount, stateDirectory)
    users += 1
    thread ??= new Thread<Methods>({
      module: new URL(`worker/main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
      data: { stateDirectory, limits: { maxBytes, maxFileBytes, maxAge } } satisfies Omit<WorkerData, 'tempName'>,
      operation: 'checkpoint',
    })
    const used = thread
    const saved: SavedLayers[] = []
    try {
      if (stateDirectory !== undefined) refuseStateInside(stateDirectory, directories)
      const onDisk = [...mounts.entries()].filter(([, mount]) => isOnDisk(mount))
      const names = onDisk.map(([, { directory }]) => ({ key: directory?.path ?? '', path: directory?.path ?? '' }))
      const trees = names.length === 0 ? [] : await used.ask('open', names)
      const disks = new Map(
        onDisk.map(([index, { adapter, directory }], position) => [
          index,
          new DiskMount(adapter, trees[position] ?? -1, directory?.path ?? '/'),
        ]),
      )
      // this empty change resolves once the whole tree has been copied from its store
      for (const disk of disks.values()) await disk.change(async () => undefined)
      const journals = new Map<number, Journal>()
      for (const [index, { adapter, directory }] of mounts.entries()) {
        if (disks.has(index)) continue
        if (adapter.capabilities.inProcess === true) {
          journals.set(index, new Journal(adapter, new MemoryLayers(), maxFileBytes))
          continue
        }
        const layers = await shared.open(used, adapter)
        saved.push(layers)
        const kind = directory === undefined ? Journal : LookedJournal
        journals.set(index, new kind(adapter, layers, maxFileBytes))
      }
      const adapters = mounts.map(({ adapter }, index) => (disks.get(index) ?? journals.get(index))?.adapter ?? adapter)
      const stored = [...trees, ...new Set(saved.map(({ tree }) => tree))]
      const held = stored.length === 0 ? undefined : await used.ask('held', stored)
      // a fork is found again by its directories alone
      const forkedFrom = trees.length === 0 || journals.size > 0 ? undefined : await used.ask('sharedBy', trees)
      return new Attached({
        ...{ thread: used, adapters, disks, held, forkedFrom, fork, open },
        journals: new JournalMounts(journals, { maxBytes, maxFileBytes, maxAge }),
        onClose: () => release(saved),
      })
    } catch (error) {
      await release(saved)
      throw error
    }
  }
  return { automatic, attach: (mounts, directories) => open(mounts, directories) }
}

/** True for a mount on a disk, which is scanned by descriptors. Mounts with fewer features are scanned through their adapter. */
function isOnDisk({ adapter, directory }: Checkpoints.Mount): boolean {
  const { modes, confinement } = adapter.capabilities
  return directory !== undefined && modes && confinement === 'verified'
}

function refuseUnsavable(mount: Checkpoints.Mount, stateDirectory: string | undefined): void {
  const { at, adapter } = mount
  const { inProcess, conditionalWrite } = adapter.capabilities
  if (!isOnDisk(mount) && conditionalWrite === 'none') throw unsavable(at)
  if (inProcess === true || stateDirectory !== undefined) return
  throw new WorkspaceError({
    code: 'EINVAL',
    operation,
    path: at,
    reason: 'does not end with this process, and checkpoints of it need a place',
    remedy: 'pass `stateDirectory` to `createCheckpoints`',
  })
}

function unsavable(at: string): WorkspaceError {
  return new WorkspaceError({
    code: 'ENOTSUP',
    operation,
    path: at,
    reason:
      'cannot be saved by checkpoints: its store checks no conditions, so a restore could overwrite the work of others',
    remedy: 'mount it with `access: "read-only"`, or make the workspace without `checkpoints`',
  })
}
