import { createMemoryAdapter } from '@ws/adapter-memory'
import type { VolumeFileSystem } from '@ws/adapter-memory/volume'
import { createWorkspace, type Workspace, WorkspaceError } from '@ws/core'
import type { MountOptions, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { checkOption, option, type OptionShapes } from '@ws/core/options'

import { checkFaults, type Fault } from './faults.ts'
import { faulty, type FaultyAdapter } from './faulty.ts'
import { readNodes, restore } from './read.ts'
import { readDirectory, readTar } from './sources.ts'
import { flatten, lay, nest, type Nodes, type Tree } from './tree.ts'

/** The clock for the times of file changes and of the workspace's results. */
export interface TestClock {
  /** Milliseconds since the epoch: the real time until the first `set`. */
  readonly now: () => number
  /** Sets the time (milliseconds since the epoch, or a date) and stops it. @throws WorkspaceError `EINVAL` */
  set(time: number | Date): void
  /** Adds these milliseconds to the time and stops the clock. @throws WorkspaceError `EINVAL` */
  advance(duration: number): void
}

/** Options of `createWorkspace`, and the root's files. `files` replace files of `tar`, which replace files of `directory`. */
export interface TestWorkspaceOptions extends Omit<WorkspaceOptions, 'mounts'> {
  readonly files?: Tree | undefined
  /** A directory of this machine to copy. */
  readonly directory?: string | undefined
  /** A tar archive: its host path or its bytes. Needs `tar-stream`. */
  readonly tar?: string | Uint8Array | undefined
  /** Makes the root's store, which is emptied first. Default: a memory store with the times of the clock. */
  readonly adapter?: ((clock: TestClock) => StorageAdapter | Promise<StorageAdapter>) | undefined
  /** A memfs volume for the root. Its files remain, and the given files are added. Not with `adapter`. */
  readonly volume?: VolumeFileSystem | undefined
  /** The path of the root in the workspace. Default `/`. */
  readonly at?: string | undefined
  /** Mounts beside the root. Default: none. */
  readonly mounts?: readonly MountOptions[] | undefined
  /** Faults of the root's store, from the workspace's first call on. Default: none. */
  readonly faults?: readonly Fault[] | undefined
}

export interface TestWorkspace extends AsyncDisposable {
  readonly workspace: Workspace
  /** The root's store without rules and faults; paths begin at its root. */
  readonly store: StorageAdapter
  readonly clock: TestClock
  readonly faults: Pick<FaultyAdapter, 'met' | 'setFaults'>
  /** All files of the root with permission bits and times, for `reset` and `diffTrees`. */
  snapshot(): Promise<Tree>
  /** Restores a snapshot or another tree, ignoring rules. Default: the initial files. */
  reset(tree?: Tree): Promise<void>
  close(): Promise<void>
}

type Own = Pick<TestWorkspaceOptions, 'directory' | 'tar' | 'adapter' | 'volume'>

const operation = 'createTestWorkspace'
const shapes: OptionShapes<Own> = {
  directory: option.text,
  tar: option.of(
    'a path or a Uint8Array',
    (value) => (typeof value === 'string' && value.trim() !== '') || value instanceof Uint8Array,
  ),
  adapter: option.function,
  volume: option.object,
}

/** A workspace for a test, in memory by default. @throws the errors of `createWorkspace`; `EINVAL` for files that form no tree */
export async function createTestWorkspace(options: TestWorkspaceOptions = {}): Promise<TestWorkspace> {
  checkOption(operation, 'options', options, option.object)
  // the stack of a denial has ten calls before the line of the test, and must show that line
  Error.stackTraceLimit = Math.max(Error.stackTraceLimit, 50)
  const { files = {}, directory, tar, adapter, volume, at = '/', mounts = [], faults = [], ...rest } = options
  for (const [name, value] of Object.entries({ directory, tar, adapter, volume })) {
    if (value !== undefined) checkOption(operation, name, value, shapes[name as keyof Own])
  }
  checkFaults(operation, faults)
  const given = await gather(files, directory, tar)
  const clock = createClock()
  const store = await storeOf(clock, adapter, volume)
  try {
    const entries = volume === undefined ? given : lay(await readNodes(store, { details: true }), given)
    await restore(store, entries)
    const layer = faulty(store, faults)
    const workspace = await createWorkspace({
      now: clock.now,
      ...rest,
      mounts: [{ at, adapter: () => layer }, ...mounts],
    })
    const close = async (): Promise<void> => {
      await workspace.close()
      await layer.close()
    }
    return {
      workspace,
      store,
      clock,
      faults: layer,
      snapshot: async () => nest(await readNodes(store, { details: true })),
      reset: (tree) => restore(store, tree === undefined ? entries : flatten(tree, 'reset')),
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await store.close()
    throw error
  }
}

async function storeOf(
  clock: TestClock,
  adapter: TestWorkspaceOptions['adapter'],
  volume: VolumeFileSystem | undefined,
): Promise<StorageAdapter> {
  if (adapter !== undefined && volume !== undefined) {
    const reason = 'was given both `adapter` and `volume`'
    throw new WorkspaceError({ code: 'EINVAL', operation, reason, remedy: 'leave one of them out' })
  }
  if (adapter !== undefined) return await adapter(clock)
  if (volume === undefined) return createMemoryAdapter({ now: clock.now })
  const { createVolumeAdapter } = await import('@ws/adapter-memory/volume')
  return createVolumeAdapter(volume)
}

async function gather(files: Tree, directory: string | undefined, tar: TestWorkspaceOptions['tar']): Promise<Nodes> {
  const own = flatten(files, operation)
  const copied: Nodes = directory === undefined ? new Map() : await readDirectory(directory)
  const unpacked: Nodes = tar === undefined ? new Map() : await readTar(tar)
  return lay(lay(copied, unpacked), own)
}

function createClock(): TestClock {
  let fixed: number | undefined
  const now = (): number => fixed ?? Date.now()
  const set = (time: number | Date): void => {
    const value = Number(time)
    checkOption('set', 'time', value, option.integer(0))
    fixed = value
  }
  return {
    now,
    set,
    advance(duration) {
      checkOption('advance', 'duration', duration, option.integer(0))
      set(now() + duration)
    },
  }
}
