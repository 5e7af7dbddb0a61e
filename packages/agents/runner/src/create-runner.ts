import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { paths, WorkspaceError, type CheckpointEngine } from '@ws/core'
import type { HostDirectory, Owner, StorageAdapter } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'
import type { ReplicatedPart } from '@ws/threads'

import { invalid } from './errors.ts'
import type { OutputPlace } from './paths.ts'
import { Runner } from './runner.ts'
import { defaultStateDirectory, openLocalState } from './state/local.ts'
import type { RunState } from './state/state.ts'
import { openStoreState } from './state/store.ts'
import { KnownEntries, type ExecuteContext } from './step/context.ts'
import { Hasher } from './step/tree.ts'
import { createStepTypes } from './types/index.ts'
import type { Model } from './types/agent.ts'
import type { StepTypes } from './types/types.ts'
import { Opened } from './opened.ts'

export interface RunnerOptions {
  /** The tree that steps read: a directory of this machine, or an adapter, which the caller closes. */
  readonly workspace: string | StorageAdapter
  /** The tree that steps write: like `workspace`, a directory of this machine or an adapter. A directory must exist. */
  readonly output: string | StorageAdapter
  /** The output's path in the workspace, for adapters. Default: computed for directories; an output adapter counts as outside. */
  readonly outputPath?: string | undefined
  /**
   * Stores the journal, the staging directories and the leases. No step may see this state.
   * A directory on a local disk, or an adapter with `conditionalWrite: 'server'`, for any machine. The caller closes the adapter.
   * Give an adapter of a sibling prefix: the runner cannot check that the state is outside the output and the workspace.
   * Default for an output directory: below the user's state directory (as root `/var/lib/ws/runs`). An output adapter has no default.
   */
  readonly state?: string | StorageAdapter | undefined
  /**
   * Copies a part of a stored state to this machine, for real programs: `createReplicaAdapter` of `@ws/adapter-replica`.
   * Called for each attempt of a writing step. The runner does not copy a stored `workspace`; the caller must copy it.
   * Default: none; commands on a stored state then need the virtual executor.
   */
  readonly replica?: ((part: ReplicatedPart) => StorageAdapter | Promise<StorageAdapter>) | undefined
  /** Executors as for `createWorkspace`. Default: none; commands reject with `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  /** Your own step types by name. Your type overrides a built-in type of the same name. */
  readonly types?: StepTypes | undefined
  /** The model of `agent` steps. Default: none; plans then cannot use the type `agent`. */
  readonly model?: Model | undefined
  /**
   * Undoes the changes of failed or aborted steps in their `exceptions`: `createCheckpoints` of `@ws/snapshots`. Default: none.
   * Steps that share an exception must not run at the same time: put such steps into one `group`.
   */
  readonly checkpoints?: CheckpointEngine | undefined
  /** The user that commands run as, for directories. Default: the workspace's owner. */
  readonly owner?: Owner | undefined
}

const shapes: OptionShapes<RunnerOptions> = {
  workspace: option.required(option.hidden(option.of('a directory or a storage adapter', isTree))),
  output: option.required(option.hidden(option.of('a directory or a storage adapter', isTree))),
  outputPath: option.text,
  state: option.hidden(option.of('an absolute path or a storage adapter', isState)),
  replica: option.function,
  executors: option.list(option.object, 'a list of executors'),
  require: option.of('a requirement', () => true),
  types: option.object,
  model: option.function,
  checkpoints: option.object,
  owner: option.object,
}

/** Makes a runner for a workspace and an output. @throws WorkspaceError `EINVAL` for options, `EIO` for a damaged journal */
export async function createRunner(options: RunnerOptions): Promise<Runner> {
  checkOptions<RunnerOptions>(options, shapes, { operation: 'createRunner' })
  const opened = new Opened()
  try {
    return await openRunner(options, opened)
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function openRunner(options: RunnerOptions, opened: Opened): Promise<Runner> {
  const open = async (tree: string | StorageAdapter, owner: Owner | undefined): Promise<StorageAdapter> =>
    typeof tree === 'string' ? opened.keep(await createLocalAdapter({ root: tree, owner })) : tree
  const workspace = await open(options.workspace, options.owner)
  const inputs = await workspace.hostDirectory?.(paths.mountRoot)
  const owner = options.owner ?? inputs?.owner
  const output = await open(options.output, owner)
  const outputs = await output.hostDirectory?.(paths.mountRoot)
  const place = placeOf(options, inputs, outputs)
  const mounted = [inputs, outputs].filter((one) => one !== undefined)
  const trees = { workspace, output, outputs, mounted }
  const state = opened.keep(await openState({ state: options.state, replica: options.replica, owner }, trees))
  const context: ExecuteContext = {
    workspace,
    output,
    place,
    state,
    types: createStepTypes(options.types, options.model),
    executors: options.executors,
    require: options.require,
    checkpoints: options.checkpoints,
    hasher: new Hasher(),
    inputHashes: new Map(),
    known: new KnownEntries(),
  }
  for (const landed of await state.journal.allLanded()) context.known.add(landed.entries)
  return new Runner(context, opened, randomUUID)
}

interface Trees {
  readonly workspace: StorageAdapter
  readonly output: StorageAdapter
  readonly outputs: HostDirectory | undefined
  readonly mounted: readonly HostDirectory[]
}

async function openState(
  { state, replica, owner }: Pick<RunnerOptions, 'state' | 'replica' | 'owner'>,
  { workspace, output, outputs, mounted }: Trees,
): Promise<RunState> {
  if (typeof state === 'object') return openStoreState(state, { trees: [workspace, output], mounted, replica })
  if (replica !== undefined)
    throw invalid('createRunner', '`replica` is for a `state` in a store, and this one is a directory', 'leave it out')
  const directory = state ?? (outputs && defaultStateDirectory(outputs.identity))
  if (directory === undefined) {
    const reason = 'the output has no directory on this machine'
    const remedy = 'give `state`: a directory on a local disk, or the adapter of a sibling prefix in the store'
    throw invalid('createRunner', reason, remedy)
  }
  return openLocalState({ directory, mounted, owner })
}

/** The output's path in the workspace. Refuses a workspace inside the output: steps could write files that other steps read. */
function placeOf(
  { outputPath, output }: RunnerOptions,
  inputs: HostDirectory | undefined,
  outputs: HostDirectory | undefined,
): OutputPlace {
  const given = outputPath?.replace(/^\/+|\/+$/gu, '')
  if (inputs === undefined || outputs === undefined) {
    return {
      inWorkspace: given,
      name: given?.split('/').at(-1) ?? (typeof output === 'string' ? basename(output) : 'output'),
    }
  }
  if (inputs.identity === outputs.identity || inputs.ancestors.includes(outputs.identity)) {
    throw new WorkspaceError({
      code: 'EINVAL',
      operation: 'createRunner',
      reason: 'the workspace is the output, or lies in it',
      remedy: 'give an output inside the workspace, or elsewhere',
    })
  }
  const name = basename(outputs.path)
  if (!outputs.ancestors.includes(inputs.identity)) return { name }
  if (outputs.path.startsWith(`${inputs.path}/`))
    return { inWorkspace: outputs.path.slice(inputs.path.length + 1), name }
  throw invalid(
    'createRunner',
    'the output lies in the workspace by a path that cannot be followed',
    'give another output',
  )
}

function isTree(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null && 'stat' in value
}

function isState(value: unknown): boolean {
  return typeof value === 'string' ? value.startsWith('/') : isTree(value)
}
