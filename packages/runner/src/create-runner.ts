import { randomUUID } from 'node:crypto'
import { basename } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { WorkspaceError } from '@ws/core'
import { mountRoot, type HostDirectory, type Owner, type StorageAdapter } from '@ws/core/adapter'
import type { Executor, Requirement } from '@ws/core/executor'
import { checkOptions, option, type OptionShapes } from '@ws/core/options'

import { invalid } from './errors.ts'
import type { OutputPlace } from './plan/paths.ts'
import { Runner } from './runner.ts'
import { defaultStateDirectory, openLocalState } from './state/local.ts'
import type { RunState } from './state/state.ts'
import { KnownEntries, type ExecuteContext } from './step/context.ts'
import { Hasher } from './step/tree.ts'
import { createStepTypes } from './types/index.ts'
import type { Model } from './types/agent.ts'
import type { StepTypes } from './types/types.ts'

/** Options of {@link createRunner}. */
export interface RunnerOptions {
  /** The tree that steps read: a directory of this machine, or an adapter, which stays its creator's to close. */
  readonly workspace: string | StorageAdapter
  /** The tree that steps write: as `workspace`. The directory must exist. */
  readonly output: string | StorageAdapter
  /**
   * The output's path in the workspace, where both are adapters without directories. Default: found out for directories,
   * else the output lies elsewhere.
   */
  readonly outputPath?: string | undefined
  /**
   * A directory on a local disk for the journal and for staging, which no step may see. Default: below the user's state directory
   * (as root `/var/lib/ws/runs`), by the identity of the output.
   */
  readonly state?: string | undefined
  /** As for `createWorkspace`. Default: none, and commands are `ENOEXECUTOR`. */
  readonly executors?: readonly Executor[] | undefined
  readonly require?: Requirement | undefined
  /** Types of steps of your own, by name. They go over the built-in ones. */
  readonly types?: StepTypes | undefined
  /** The model of `agent` steps. Default: none, and `agent` is not a type. */
  readonly model?: Model | undefined
  /** The user that commands run as, for directories. Default: the workspace's owner. */
  readonly owner?: Owner | undefined
}

const shapes: OptionShapes<RunnerOptions> = {
  workspace: option.required(option.hidden(option.of('a directory or a storage adapter', isTree))),
  output: option.required(option.hidden(option.of('a directory or a storage adapter', isTree))),
  outputPath: option.text,
  state: option.hidden(option.of('an absolute path', (value) => typeof value === 'string' && value.startsWith('/'))),
  executors: option.list(option.object, 'a list of executors'),
  require: option.of('a requirement', () => true),
  types: option.object,
  model: option.function,
  owner: option.object,
}

/**
 * Makes a runner for one workspace and one output.
 *
 * @throws WorkspaceError `EINVAL` for options that are not valid; `EIO` for a journal that is damaged
 */
export async function createRunner(options: RunnerOptions): Promise<Runner> {
  checkOptions<RunnerOptions>(options, shapes, { operation: 'createRunner' })
  await using opened = new AsyncDisposableStack()
  const open = async (tree: string | StorageAdapter, owner: Owner | undefined): Promise<StorageAdapter> =>
    typeof tree === 'string' ? opened.use(await createLocalAdapter({ root: tree, owner })) : tree
  const workspace = await open(options.workspace, options.owner)
  const inputs = await workspace.hostDirectory?.(mountRoot)
  const output = await open(options.output, options.owner ?? inputs?.owner)
  const outputs = await output.hostDirectory?.(mountRoot)
  const place = placeOf(options, inputs, outputs)
  const state = opened.use(closing(await openState(options, inputs, outputs)))
  const context: ExecuteContext = {
    workspace,
    output,
    place,
    state,
    types: createStepTypes(options.types, options.model),
    executors: options.executors,
    require: options.require,
    hasher: new Hasher(),
    inputHashes: new Map(),
    known: new KnownEntries(),
  }
  for (const landed of await state.journal.allLanded()) context.known.add(landed.entries)
  return new Runner(context, opened.move(), randomUUID)
}

async function openState(
  options: RunnerOptions,
  inputs: HostDirectory | undefined,
  output: HostDirectory | undefined,
): Promise<RunState> {
  const directory = options.state ?? (output && defaultStateDirectory(output.identity))
  if (directory === undefined) {
    const reason = 'the output has no directory on this machine'
    throw invalid('createRunner', reason, 'give `state`, a directory on a local disk')
  }
  const mounted = [inputs, output].filter((one) => one !== undefined)
  return openLocalState({ directory, mounted, owner: options.owner ?? inputs?.owner })
}

function closing(state: RunState): RunState & AsyncDisposable {
  return Object.assign(state, { [Symbol.asyncDispose]: () => state.close() })
}

/**
 * Where the output lies. A workspace inside the output would let steps write what others read: it is refused.
 */
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
