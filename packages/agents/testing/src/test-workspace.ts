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

/** The time of changes of files, and of the results of the workspace. */
export interface TestClock {
  /** Milliseconds since the epoch: the time of this machine until the first `set`. */
  readonly now: () => number
  /** Sets the time, in milliseconds since the epoch or by a date; it then stands still. @throws WorkspaceError `EINVAL` */
  set(time: number | Date): void
  /** Moves the time on by so many milliseconds; it then stands still. @throws WorkspaceError `EINVAL` */
  advance(duration: number): void
}

/**
 * The options of `createWorkspace`, and the files of its root. `directory`, `tar` and `files` may be given together: the
 * entries of the later one win.
 */
export interface TestWorkspaceOptions extends Omit<WorkspaceOptions, 'mounts'> {
  /** A nested object of files. */
  readonly files?: Tree | undefined
  /** A directory of this machine, which is copied. */
  readonly directory?: string | undefined
  /** A tar archive: its path on this machine, or its bytes. Needs `tar-stream`. */
  readonly tar?: string | Uint8Array | undefined
  /** Makes another store for the root, which is emptied first. Default: files in memory, with the times of the clock. */
  readonly adapter?: ((clock: TestClock) => StorageAdapter | Promise<StorageAdapter>) | undefined
  /** A volume of memfs whose files are those of the root. Its files stay; those that are given come beside them. Not with `adapter`. */
  readonly volume?: VolumeFileSystem | undefined
  /** Where the root appears. Default `/`. */
  readonly at?: string | undefined
  /** Mounts beside the root. Default: none. */
  readonly mounts?: readonly MountOptions[] | undefined
  /** Faults of the root's store, from the first call of the workspace on. Default: none. */
  readonly faults?: readonly Fault[] | undefined
}

/** A workspace with everything that a test changes around it. */
export interface TestWorkspace extends AsyncDisposable {
  readonly workspace: Workspace
  /** The files of the root, without rules and without faults; paths begin at the root's store. */
  readonly store: StorageAdapter
  readonly clock: TestClock
  readonly faults: Pick<FaultyAdapter, 'met' | 'setFaults'>
  /** All files of the root, with permission bits and times. For `reset`, and for `diffTrees`. */
  snapshot(): Promise<Tree>
  /** Makes the files those of a snapshot or another tree, without asking rules. Default: those at the beginning. */
  reset(tree?: Tree): Promise<void>
  /** Closes the workspace and its store. */
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

/** A workspace for a test, in memory without `adapter`. @throws as `createWorkspace`; `EINVAL` for files that form no tree */
export async function createTestWorkspace(options: TestWorkspaceOptions = {}): Promise<TestWorkspace> {
  checkOption(operation, 'options', options, option.object)
  // a denial is thrown ten calls below the line of the test, which its failure must show
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
