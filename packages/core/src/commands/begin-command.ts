import { mapNotes } from '../adapter/entry-notes.ts'
import type { BeginCommandOptions, EndCommand, EntryNote } from '../adapter/types.ts'
import { translateError } from '../mount/errors.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'
import { joinPath, type VirtualPath } from '../path/virtual-path.ts'

/** As an adapter's own {@link EndCommand}, with the paths of the workspace. */
export type EndedCommand = () => Promise<readonly EntryNote<VirtualPath>[]>

/** Tells every adapter that a command begins. The function that it gives tells them that the command has ended. */
export async function beginCommand(
  mounts: readonly WorkspaceMount[],
  options: BeginCommandOptions,
): Promise<EndedCommand | undefined> {
  const begun: { readonly end: EndCommand; readonly mount: WorkspaceMount }[] = []
  let ended: Promise<EntryNote<VirtualPath>[]> | undefined
  const end = async (): Promise<EntryNote<VirtualPath>[]> => {
    const results = await Promise.allSettled(begun.map((one) => one.end()))
    return results.flatMap((result, index) => {
      const { mount } = begun[index] as (typeof begun)[number]
      if (result.status === 'rejected') throw failureOf(result.reason, mount)
      return mapNotes(result.value, (path) => joinPath(mount.at, path))
    })
  }
  for (const mount of mounts) {
    if (mount.scratch || mount.adapter?.beginCommand === undefined) continue
    try {
      begun.push({ mount, end: await mount.adapter.beginCommand(options) })
    } catch (error) {
      await end().catch(() => undefined) // the first failure is the one that counts
      throw failureOf(error, mount, options.signal)
    }
  }
  return begun.length === 0 ? undefined : () => (ended ??= end())
}

function failureOf(error: unknown, { at }: WorkspaceMount, signal?: AbortSignal): unknown {
  return translateError(error, { operation: 'exec', at, path: at, signal })
}
