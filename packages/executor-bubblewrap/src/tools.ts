import type { HostPath } from '@ws/core'
import { type BindSource, openBindSource, type ResolvedTool } from '@ws/process'

export interface OpenedTools extends AsyncDisposable {
  readonly tools: readonly { readonly at: string; readonly fd: number }[]
}

/**
 * Opens the directory of each tool, so that it is bound by descriptor.
 *
 * @throws WorkspaceError `EBUSY`, `EBACKEND` as `openBindSource`
 */
export async function openTools(tools: readonly ResolvedTool[]): Promise<OpenedTools> {
  const opened: BindSource[] = []
  const close = async () => {
    await Promise.all(opened.splice(0).map((source) => source.close()))
  }
  try {
    for (const { host, at } of tools) opened.push(await openBindSource(host as HostPath, 'directory', { at }))
    return {
      tools: tools.map(({ at }, index) => ({ at, fd: opened[index]?.fd ?? -1 })),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
