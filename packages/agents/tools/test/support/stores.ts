import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import type { Workspace, WorkspaceOptions } from '@ws/core'
import { createWorkspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory } from '@ws/test-fixtures'
import type { S3ServerName } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { onTestFinished } from 'vitest'

export type Files = Readonly<Record<string, string | Uint8Array>>

/** A place for files of one test, and any number of adapters on it. */
export interface Store {
  readonly name: string
  /** The tier of tests that the store has no part in. */
  readonly tags: 'all'[]
  /** Gives a function that makes adapters on the same files. */
  open(): Promise<() => StorageAdapter | Promise<StorageAdapter>>
}

let prefixes = 0

/** A bucket of a real server; each place has a prefix of its own. */
export function bucketOf(server: S3ServerName): Store {
  const open: Store['open'] = async () => {
    const { endpoint, region, credentials, bucket, close } = await sharedS3Server(server)
    onTestFinished(() => close())
    prefixes += 1
    const prefix = `t${process.pid}-${prefixes}`
    return () => createS3Adapter({ endpoint, region, credentials, bucket, prefix })
  }
  return { name: server === 'r2' ? 's3' : server, tags: ['all'], open }
}

export const stores: readonly Store[] = [
  {
    name: 'memory',
    tags: [],
    open: () => {
      const adapter = createMemoryAdapter()
      onTestFinished(() => adapter.close())
      // the same adapter each time: its files live in it
      return Promise.resolve(() => adapter)
    },
  },
  {
    name: 'local',
    tags: ['all'],
    open: async () => {
      const directory = await createScratchDirectory()
      onTestFinished(() => directory.remove())
      return () => createLocalAdapter({ root: directory.path, owner: directory.owner })
    },
  },
  bucketOf('r2'),
]

/** A workspace on memory with these files; it is closed with the test. */
export async function workspaceWith(files: Files = {}, options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    // its rules judge later writes only
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files }) }],
    ...options,
  })
  onTestFinished(() => workspace.close())
  if (options.mounts !== undefined) await fill(workspace, files)
  return workspace
}

export async function workspaceOn(store: Store, files: Files = {}, at = '/'): Promise<Workspace> {
  const adapter = await store.open()
  const workspace = await createWorkspace({ mounts: [{ at, adapter }] })
  onTestFinished(() => workspace.close())
  await fill(workspace, files)
  return workspace
}

async function fill(workspace: Workspace, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) await workspace.write(path, content)
}
