import { randomUUID } from 'node:crypto'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, isWorkspaceError } from '@ws/core'
import type { CheckpointEngine, Workspace, WorkspaceError, WorkspaceOptions } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

import { type CheckpointsOptions, createCheckpoints } from '../../src/index.ts'

export type Kind = 'local' | 'memory' | 'r2' | 'ceph'

export interface Site {
  readonly workspace: Workspace
  /** The directory of the files; empty for stores that have none. */
  readonly root: string
  readonly stateDirectory: string
}

export interface SiteOptions
  extends Omit<WorkspaceOptions, 'mounts' | 'checkpoints'>,
    Omit<CheckpointsOptions, 'stateDirectory'> {
  readonly kind?: Kind
  readonly root?: string
  /** A store in place of one of its kind. */
  readonly adapter?: StorageAdapter
  readonly stateDirectory?: string
}

/** A directory of the user that runs the tests, removed when the test ends. */
export async function ownDirectory(): Promise<string> {
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const scratch = await createScratchDirectory({ prefix: 'ws-state-', owner })
  onTestFinished(() => scratch.remove())
  return scratch.path
}

interface Engine {
  readonly stateDirectory: string
  readonly checkpoints: CheckpointEngine
}

interface SharedEngine extends Engine {
  close(): Promise<void>
}

let shared: Promise<SharedEngine> | undefined
let isOfThisFile = false

/** At the top of a test file: its tests may share one engine, which is closed after them. */
export function shareEngine(): void {
  beforeAll(() => {
    isOfThisFile = true
  })
  afterAll(async () => {
    const engine = await shared
    shared = undefined
    isOfThisFile = false
    await engine?.close()
  })
}

/** One engine for all tests of a file that need nothing else: a thread takes half a second to start. */
function sharedEngine(): Promise<SharedEngine> {
  if (!isOfThisFile) throw new Error('the file does not call shareEngine')
  shared ??= (async () => {
    const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
    const scratch = await createScratchDirectory({ prefix: 'ws-state-', owner })
    const stateDirectory = `${scratch.path}/kept`
    const checkpoints = createCheckpoints({ stateDirectory })
    const root = await scratch.createDirectory('root')
    const mounts = [{ at: '/', adapter: () => createLocalAdapter({ root }) }]
    // the thread stays for as long as one workspace is open
    const holder = await createWorkspace({ mounts, checkpoints })
    const close = async (): Promise<void> => {
      await holder.close()
      await scratch.remove()
    }
    return { stateDirectory, checkpoints, close }
  })()
  return shared
}

async function engineOf({ stateDirectory: given, ...options }: CheckpointsOptions): Promise<Engine> {
  const isPlain = given === undefined && Object.values(options).every((value) => value === undefined)
  if (isPlain) return sharedEngine()
  const stateDirectory = given ?? `${await ownDirectory()}/kept`
  return { stateDirectory, checkpoints: createCheckpoints({ ...options, stateDirectory }) }
}

/** An empty store of a kind that has no place on this machine. Those of a server name themselves, and can be opened again. */
export async function storeOf(kind: Exclude<Kind, 'local'>): Promise<StorageAdapter> {
  if (kind === 'memory') return createMemoryAdapter()
  const { bucket, endpoint, region, credentials } = await sharedS3Server(kind)
  const place = { bucket, prefix: randomUUID(), endpoint, region, credentials }
  return createS3Adapter({ ...place, symlinks: 'rclonelink' })
}

/** A workspace with checkpoints, closed when the test ends. */
export async function siteOf(options: SiteOptions = {}): Promise<Site> {
  const { kind = 'local', automatic, maxBytes, maxFileBytes, maxAge, stateDirectory: given, ...rest } = options
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const { root = scratch.path, adapter, ...others } = rest
  const engine = await engineOf({ stateDirectory: given, automatic, maxBytes, maxFileBytes, maxAge })
  const store = adapter ?? (kind === 'local' ? undefined : await storeOf(kind))
  const workspace = await createWorkspace({
    ...others,
    mounts: [{ at: '/', adapter: store ?? (() => createLocalAdapter({ root })) }],
    checkpoints: engine.checkpoints,
  })
  onTestFinished(() => workspace.close())
  return { workspace, root, stateDirectory: engine.stateDirectory }
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

/** Everything that callers can see and set, by path. */
export async function filesOf(workspace: Workspace): Promise<Record<string, string>> {
  const keepsTimes = workspace.mounts[0]?.adapter !== 's3'
  const entries = await Array.fromAsync(workspace.list('/', { recursive: true }))
  const found = entries.map(async ({ path, type }) => {
    const { mode, modifiedAt } = await workspace.stat(path)
    const content =
      type === 'file' ? await workspace.readText(path) : type === 'symlink' ? await workspace.readSymlink(path) : ''
    return [
      path,
      `${type} ${mode} ${type === 'symlink' || !keepsTimes ? '' : Math.round(modifiedAt ?? 0)} ${content}`,
    ] as const
  })
  return Object.fromEntries(await Promise.all(found))
}
