import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, isWorkspaceError, type Workspace, WorkspaceError } from '@ws/core'
import type { MountPath, StorageAdapter } from '@ws/core/adapter'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, onTestFinished } from 'vitest'

import {
  createReplicaAdapter,
  type ReplicaAdapter,
  type ReplicaAdapterOptions,
  type ReplicaEvent,
} from '../../src/index.ts'

export interface Machine {
  readonly replica: ReplicaAdapter
  /** Without the progress of the first copy. */
  readonly events: readonly ReplicaEvent[]
  /** The directory of the files. */
  readonly root: string
}

export const at = (path: string): MountPath => path as MountPath

/** A replica of one machine with everything of the store, closed when the test ends. */
export async function machineOf(store: StorageAdapter, options: Partial<ReplicaAdapterOptions> = {}): Promise<Machine> {
  const machine = await openMachine(store, options)
  await machine.replica.refresh?.()
  return machine
}

/** The same while files may still be on their way. */
export async function openMachine(
  store: StorageAdapter,
  options: Partial<ReplicaAdapterOptions> = {},
): Promise<Machine> {
  const events: ReplicaEvent[] = []
  const onEvent = (event: ReplicaEvent): void => void (event.event === 'copying' || events.push(event))
  const replica = await createReplicaAdapter({ store, onEvent, ...options })
  onTestFinished(() => replica.close().catch(() => undefined))
  return { replica, events, root: replica.hostPath?.(at('/')) ?? '' }
}

export interface Site extends Machine {
  readonly workspace: Workspace
}

/** A workspace on a replica, in which real programs run. */
export async function siteOf(
  store: StorageAdapter = createMemoryAdapter(),
  options: Partial<ReplicaAdapterOptions> = {},
): Promise<Site> {
  const machine = await machineOf(store, options)
  const workspace = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: machine.replica }],
    executors: [createBubblewrapExecutor()],
  })
  onTestFinished(() => workspace.close().catch(() => undefined))
  return { ...machine, workspace }
}

/** A directory of the user that runs the tests, removed when the test ends. */
export async function ownDirectory(): Promise<string> {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const scratch = await createScratchDirectory({ prefix: 'ws-replica-', owner })
  onTestFinished(() => scratch.remove())
  return scratch.path
}

export async function failureOf(work: Promise<unknown>): Promise<WorkspaceError> {
  try {
    await work
  } catch (error) {
    if (isWorkspaceError(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}

/** Every entry of a store that has its path, by path: type, and content or target. */
export async function filesOf(store: StorageAdapter): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, type, unreachable } of store.list(at('/'), { recursive: true })) {
    if (unreachable === true) continue
    if (type === 'directory') found[path] = 'directory'
    else if (type === 'symlink') found[path] = `-> ${await store.readSymlink?.(path)}`
    else found[path] = new TextDecoder().decode((await store.read(path)).bytes)
  }
  return found
}

/** The replica has the files of the store, and nothing waits or differs. */
export async function expectInStep(replica: ReplicaAdapter, files: Record<string, string>, of?: string): Promise<void> {
  expect(await filesOf(replica), of).toEqual(files)
  expect(replica.status(), of).toMatchObject({ dirty: [], leftOut: [] })
  expect((await replica.verify()).differing, of).toEqual([])
}

export const put = (store: StorageAdapter, path: string, text: string): Promise<unknown> =>
  store.write(at(path), new TextEncoder().encode(text), { parents: true })

/** As the servers are that there are: a condition on a deletion is ignored. */
export function storeWithoutConditionalDelete(): StorageAdapter {
  const store = createMemoryAdapter()
  const { capabilities, delete: remove } = store
  return Object.assign(store, {
    capabilities: { ...capabilities, conditionalDelete: 'process', conditionalMove: 'process' },
    delete: (path: MountPath, options: object) => remove.call(store, path, { ...options, ifVersion: undefined }),
  }) as StorageAdapter
}

/** Makes a store unreachable. Answers the way back. */
export function takeAway(store: StorageAdapter): () => void {
  const { stat, read, write } = store
  const away = { code: 'EBACKEND', operation: 'read', reason: 'cannot be reached', remedy: 'try again' } as const
  const refuse = (): Promise<never> => Promise.reject(new WorkspaceError(away))
  Object.assign(store, { stat: refuse, read: refuse, write: refuse })
  return () => void Object.assign(store, { stat, read, write })
}
