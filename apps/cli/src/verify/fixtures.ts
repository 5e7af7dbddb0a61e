import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import type { storesBeside, WorkspaceFixture } from '@ws/conformance'
import { createWorkspace, type Workspace } from '@ws/core'
import type { Owner } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'

import type { ScratchStore } from '../storage/scratch.ts'
import { createScratch } from './scratch.ts'
import type { MountPoint } from './types.ts'

export interface FixturesOptions {
  /** `storesBeside` from the conformance kit, which is an optional package. */
  readonly storesBeside: typeof storesBeside
  readonly executor: Executor
  readonly at: MountPoint
  readonly owner: Owner
  /** The store of the files. Default: a directory of this machine. */
  readonly createStore?: (() => Promise<ScratchStore>) | undefined
  readonly signal: AbortSignal
}

export interface Fixtures extends AsyncDisposable {
  readonly store: string | undefined
  createFixture(): WorkspaceFixture
}

export async function openFixtures(options: FixturesOptions): Promise<Fixtures> {
  const { executor, at, owner, createStore, signal } = options
  const store = await createStore?.()
  const scratch = store ?? (await createScratch(owner))
  const opened = new Set<Workspace>()
  // closing a workspace ends a test that waits for a command
  const interrupt = (): void => {
    for (const workspace of opened) workspace.close().catch(() => undefined)
  }
  signal.addEventListener('abort', interrupt)
  let count = 0
  const createFixture = (): WorkspaceFixture => {
    const fixture = `/${(count += 1)}`
    return {
      executor,
      createStore: options.storesBeside(async (path) => {
        if (!('directory' in scratch)) return scratch.open(`${fixture}/${path}`)
        const root = join(scratch.directory, fixture, path)
        await mkdir(root, { recursive: true })
        await scratch.give(join(scratch.directory, fixture))
        return createLocalAdapter({ root, owner })
      }),
      async open(given) {
        const workspace = await createWorkspace({ ...given, signal })
        opened.add(workspace)
        return workspace
      },
      dispose: async () => opened.clear(),
    }
  }
  // this workspace keeps the executor's resources alive during all tests
  const { createStore: createKept } = createFixture()
  const mounts = [{ at, adapter: () => createKept('kept') }]
  const end = async (): Promise<void> => {
    signal.removeEventListener('abort', interrupt)
    await scratch[Symbol.asyncDispose]()
  }
  let kept: Workspace
  try {
    kept = await createWorkspace({ mounts, executors: [executor], signal })
  } catch (error) {
    await end()
    throw error
  }
  const close = async (): Promise<void> => {
    try {
      await kept.close()
    } finally {
      await end()
    }
  }
  return { store: store?.name, createFixture, [Symbol.asyncDispose]: close }
}
