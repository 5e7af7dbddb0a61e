import type { HostDirectory } from '../contract/file-types.ts'
import type { VirtualPath } from '../path/virtual-path.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { isWorkspaceError, rewriteError } from '../errors.ts'
import type { Context } from '../calls/context.ts'
import type { CheckpointEngine, HeldCheckpoints } from '../contract/checkpoint-engine.ts'
import type { RestoreResult } from '../contract/checkpoints.ts'
import { translated } from './calls.ts'
import type { CheckpointParts } from './door.ts'
import { takeBack } from './take-back.ts'

/** Gives the writable mounts to the engine, and uses the adapters that the engine returns. */
export async function attachCheckpoints(
  engine: CheckpointEngine | undefined,
  mounts: readonly WorkspaceMount[],
  directories: ReadonlyMap<VirtualPath, HostDirectory>,
): Promise<CheckpointParts | undefined> {
  if (engine === undefined) return undefined
  const kept = mounts.filter((mount) => mount.access === 'read-write')
  const given = kept.flatMap(({ at, adapter }) =>
    adapter === undefined ? [] : [{ at, adapter, directory: directories.get(at) }],
  )
  try {
    const attached = await engine.attach(given, directories)
    for (const [index, mount] of kept.entries()) mount.adapter = attached.adapters[index] ?? mount.adapter
    return { engine, attached, mounts: kept }
  } catch (error) {
    throw isWorkspaceError(error) ? rewriteError(error, { operation: 'createWorkspace' }) : error
  }
}

/** Takes back a try that was open when an earlier process ended. */
export async function takeBackLeft(
  context: Context,
  parts: CheckpointParts,
  held: HeldCheckpoints,
): Promise<RestoreResult> {
  try {
    return await translated(context, 'createWorkspace', undefined, () => takeBack(context, parts, { held }))
  } catch (error) {
    if (!isWorkspaceError(error)) throw error
    throw rewriteError(error, {
      reason: `a try that an earlier process left open could not be taken back: ${error.reason}`,
      remedy: `${error.remedy ?? 'try again'}; or keep its files, and delete the state directory`,
    })
  }
}
