import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import type { Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, createScratchDirectory } from '@ws/test-fixtures'
import type { Component } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { onTestFinished } from 'vitest'

import type { Files } from './index.ts'

export const columnNames = [
  'bubblewrap at `/`',
  'bubblewrap at `/workspace`',
  'proot',
  'virtual on memory',
  'virtual on S3',
] as const
export type ColumnName = (typeof columnNames)[number]

export interface Column {
  readonly name: ColumnName
  readonly needs: readonly Component[]
  readonly at: '/' | '/workspace'
  /** True if the column runs in `npm test` too. */
  readonly quick?: true
  executor(): Executor
  store(): Promise<StorageAdapter>
}

const bubblewrap = { needs: [component('bubblewrap')], executor: createBubblewrapExecutor, store: openLocal }

export const columns: readonly Column[] = [
  { name: 'bubblewrap at `/`', at: '/', ...bubblewrap },
  { name: 'bubblewrap at `/workspace`', at: '/workspace', ...bubblewrap },
  { name: 'proot', at: '/workspace', needs: [component('proot')], executor: createProotExecutor, store: openLocal },
  {
    name: 'virtual on memory',
    at: '/',
    needs: [],
    quick: true,
    executor: createVirtualExecutor,
    store: async () => createMemoryAdapter(),
  },
  { name: 'virtual on S3', at: '/workspace', needs: [], executor: createVirtualExecutor, store: openS3 },
]

/** A workspace of a column. It can be opened again on the same files. */
export interface ColumnWorkspace {
  readonly column: ColumnName
  readonly workspace: Workspace
  at(path: string): string
  /** Closes the workspace, and opens another one on the same store, like a later process. */
  reopen(): Promise<Workspace>
}

/** Opens a workspace of a column. The test's end closes it. */
export async function openColumn({ name, at, executor, store }: Column, files: Files): Promise<ColumnWorkspace> {
  const adapter = await store()
  const open = () => createWorkspace({ mounts: [{ at, adapter }], executors: [executor()] })
  let workspace = await open()
  onTestFinished(async () => {
    await workspace.close()
    await adapter.close()
  })
  for (const [path, content] of Object.entries(files)) await workspace.write(path, content)
  return {
    column: name,
    get workspace() {
      return workspace
    },
    at: (path) => `${at === '/' ? '' : at}/${path}`,
    async reopen() {
      await workspace.close()
      workspace = await open()
      return workspace
    },
  }
}

async function openLocal(): Promise<StorageAdapter> {
  const { path: root, owner, remove } = await createScratchDirectory()
  onTestFinished(() => remove())
  return createLocalAdapter({ root, owner })
}

let buckets: ReturnType<typeof sharedS3Server> | undefined
let prefixes = 0

async function openS3(): Promise<StorageAdapter> {
  // most runs have no store on S3, and do not load its client
  const { createS3Adapter } = await import('@ws/adapter-s3')
  buckets ??= sharedS3Server('r2')
  const { endpoint, region, credentials, bucket } = await buckets
  prefixes += 1
  return createS3Adapter({ endpoint, region, credentials, bucket, prefix: `features-${prefixes}` })
}
