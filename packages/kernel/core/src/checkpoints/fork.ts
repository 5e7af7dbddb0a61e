import { type Context, perform } from '../calls/context.ts'
import { checkMethod } from '../calls/method-options.ts'
import type { CheckpointEngine } from '../contract/checkpoint-engine.ts'
import type { ForkOptions } from '../contract/file-types.ts'
import { isWorkspaceError, rewriteError } from '../errors.ts'
import { translateError, virtualError } from '../mount/errors.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { begun, refuseBusy } from './busy.ts'
import { translated } from './calls.ts'
import type { CheckpointParts } from './door.ts'
import { withoutEngine } from './select.ts'

export interface ForkSide<Made> {
  readonly context: Context
  readonly parts: CheckpointParts | undefined
  /** The ids of running commands and sessions. */
  readonly busy: readonly string[]
  /** Makes the second workspace, with the rules and the executor of this one. */
  readonly again:
    | ((mounts: readonly WorkspaceMount[], engine: CheckpointEngine, options: ForkOptions) => Promise<Made>)
    | undefined
}

const operation = 'fork'

/** Makes a workspace over copies of the writable mounts. On an error, closes the copies. */
export async function fork<Made>(side: ForkSide<Made>, options: ForkOptions = {}): Promise<Made> {
  checkMethod('fork', operation, options)
  const { context } = side
  const { directory, signal } = options
  return perform(context, { operation, path: context.root, signal }, async () => {
    const { engine, attached, mounts, again } = admitted(side, directory)
    const saved = await translated(context, operation, signal, () => attached.save({ label: 'before a fork', signal }))
    if (saved === undefined) throw new Error('only automatic checkpoints may be left out')
    const { id } = saved.checkpoint
    const made: WorkspaceMount[] = []
    try {
      for (const mount of context.mounts) {
        if (mount.scratch) continue
        const isCopied = mounts.includes(mount)
        const adapter = isCopied ? await copyOf(mount, options) : mount.adapter
        made.push({ ...mount, adapter, owned: isCopied })
      }
      const { automatic } = engine
      const isTemporary = directory === undefined
      const attach: CheckpointEngine['attach'] = (copies, directories) =>
        attached.fork(id, copies, directories, { isTemporary })
      return await again(made, { automatic, attach }, options)
    } catch (error) {
      for (const { adapter, owned } of made) if (owned) await adapter?.close().catch(() => undefined) // `error` says more
      if (!isWorkspaceError(error)) throw error
      const { code, remedy } = error
      const elsewhere = 'use an executor for several workspaces, such as bubblewrap'
      throw rewriteError(error, { operation, remedy: code === 'ENOEXECUTOR' ? elsewhere : remedy })
    }
  })
}

async function copyOf(mount: WorkspaceMount, { directory, signal }: ForkOptions): Promise<WorkspaceMount['adapter']> {
  try {
    return await mount.adapter?.createFork?.({ signal, ...(isOnDisk(mount) && { directory }) })
  } catch (error) {
    throw translateError(error, { operation, at: mount.at, path: mount.at, signal })
  }
}

function admitted<Made>(
  { context, parts, busy, again }: ForkSide<Made>,
  directory: string | undefined,
): CheckpointParts & { readonly again: NonNullable<ForkSide<Made>['again']> } {
  if (context.attempt !== undefined)
    throw refused('EBUSY', 'cannot begin inside a try', 'fork the workspace before it, or after its end')
  if (parts === undefined || again === undefined) throw withoutEngine(operation)
  const { mounts } = parts
  if (mounts.length === 0)
    throw refused('EROFS', 'has nothing to copy, because no mount is writable', 'use the workspace itself')
  for (const { at, adapter } of mounts) {
    if (adapter?.createFork !== undefined) continue
    throw virtualError({
      code: 'ENOTSUP',
      operation,
      path: at,
      reason: `its store (${adapter?.name}) cannot be forked`,
      remedy: 'mount a replica of it (`createReplicaAdapter`), or mount it with `access: "read-only"`',
    })
  }
  const disks = mounts.filter(isOnDisk).length
  if (directory !== undefined && disks !== 1)
    throw refused(
      'EINVAL',
      `takes a \`directory\` for one writable mount on a disk, and there are ${disks}`,
      'leave `directory` out',
    )
  refuseBusy(operation, [...busy, ...begun(context)], 'changing calls, commands or sessions')
  return { ...parts, again }
}

function isOnDisk({ adapter }: WorkspaceMount): boolean {
  return adapter?.hostDirectory !== undefined
}

function refused(code: 'EBUSY' | 'EROFS' | 'EINVAL', reason: string, remedy: string): Error {
  return virtualError({ code, operation, reason, remedy })
}
