import type { BeginCommandOptions, EndCommand } from '../adapter/types.ts'
import { translateError } from '../mount/errors.ts'
import type { WorkspaceMount } from '../mount/mounts.ts'

/** Tells every adapter that a command begins. The function that it gives tells them that the command has ended. */
export async function beginCommand(
  mounts: readonly WorkspaceMount[],
  options: BeginCommandOptions,
): Promise<EndCommand | undefined> {
  const begun: { readonly end: EndCommand; readonly mount: WorkspaceMount }[] = []
  let ended: Promise<void> | undefined
  const end = async (): Promise<void> => {
    const results = await Promise.allSettled(begun.map((one) => one.end()))
    for (const [index, result] of results.entries()) {
      const mount = begun[index]?.mount
      if (result.status === 'rejected' && mount !== undefined) throw failureOf(result.reason, mount)
    }
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
