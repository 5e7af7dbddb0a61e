import type { HostPath } from '@ws/core/executor'
import { openBindSources, type ResolvedTool } from '@ws/sandbox'

export interface OpenedTools extends Disposable {
  readonly tools: readonly { readonly at: string; readonly fd: number }[]
}

/**
 * Opens the directory of each tool, so that it is bound by descriptor.
 *
 * @throws WorkspaceError `EBUSY`, `EBACKEND` as `openBindSources`
 */
export async function openTools(tools: readonly ResolvedTool[]): Promise<OpenedTools> {
  const wanted = tools.map(({ host, at }) => ({ path: host as HostPath, type: 'directory', at }) as const)
  const opened = await openBindSources(wanted)
  return {
    tools: tools.map(({ at }, index) => ({ at, fd: opened[index]?.fd ?? -1 })),
    [Symbol.dispose]() {
      for (const source of opened) source.close()
    },
  }
}
