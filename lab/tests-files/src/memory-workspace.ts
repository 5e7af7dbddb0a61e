import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import type { Workspace, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'

export interface MemorySite {
  readonly workspace: Workspace
  readonly adapters: readonly StorageAdapter[]
}

export async function openMemory(
  mounts: Readonly<Record<string, Readonly<Record<string, string>>>>,
  options: Partial<WorkspaceOptions> = {},
): Promise<MemorySite> {
  const adapters = Object.values(mounts).map((files) => createMemoryAdapter({ files }))
  const workspace = await createWorkspace({
    mounts: Object.keys(mounts).map((at, index) => ({ at, adapter: adapters[index] as StorageAdapter })),
    ...options,
  })
  return { workspace, adapters }
}

export async function paths(listing: AsyncIterable<{ readonly path: string }>): Promise<string[]> {
  const found: string[] = []
  for await (const { path } of listing) found.push(path)
  return found.sort()
}
