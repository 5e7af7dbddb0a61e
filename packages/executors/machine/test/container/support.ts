import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '@ws/core'
import { createScratchDirectory, type ScratchDirectory, type TestEngine } from '@ws/test-fixtures'

import { type ContainerExecutorOptions, createContainerExecutor } from '../../src/container/index.ts'

export interface Site extends AsyncDisposable {
  readonly scratch: ScratchDirectory
  readonly workspace: Workspace
}

/** Makes an executor on the engine of the tests. */
export function executorOn(engine: TestEngine, options: ContainerExecutorOptions = {}) {
  return createContainerExecutor({ engine: engine.address, image: engine.image, ...options })
}

/** A workspace on a directory of its own, or on a given one. */
export async function openSite(
  engine: TestEngine,
  {
    options = {},
    executor = {},
    at,
  }: {
    readonly options?: Omit<Partial<WorkspaceOptions>, 'mounts' | 'executors'>
    readonly executor?: ContainerExecutorOptions
    readonly at?: ScratchDirectory
  } = {},
): Promise<Site> {
  const scratch = at ?? (await createScratchDirectory())
  const adapter = await createLocalAdapter({ root: scratch.path, owner: scratch.owner })
  const workspace = await createWorkspace({
    ...options,
    mounts: [{ at: '/workspace', adapter }],
    executors: [executorOn(engine, executor)],
  })
  return {
    scratch,
    workspace,
    async [Symbol.asyncDispose]() {
      await workspace.close()
      if (at === undefined) await scratch.remove()
    },
  }
}

interface Listed {
  readonly Id: string
  readonly State: string
}

/** All containers of the engine. */
export function containersOf(engine: TestEngine): Promise<readonly Listed[]> {
  return engine.call('GET', '/containers/json?all=1')
}

/** A command of a shell without start-up files. */
export const plain = { login: false, shell: 'sh' } as const
