import { createLocalAdapter } from '@ws/adapter-local'
import type { Executor } from '@ws/core/executor'
import { createScratchDirectory, deep } from '@ws/test-fixtures'
import { storesBeside, type WorkspaceFixture } from '@ws/conformance'

/**
 * Where the contract of an executor is tried that works alike at both places: at one in the ordinary tests, at both in the
 * deep run. The two doors, which have paths of their own at each, are always tried at both.
 */
export function executorRoots(one: '/' | '/workspace'): readonly ('/' | '/workspace')[] {
  return deep ? ['/', '/workspace'] : [one]
}

/** Stores on the disk, beside one another, of the user that commands run as. */
export async function onDisk(executor: Executor): Promise<WorkspaceFixture> {
  const scratch = await createScratchDirectory()
  const createStore = storesBeside(async (path) =>
    createLocalAdapter({ root: await scratch.createDirectory(path), owner: scratch.owner }),
  )
  return { executor, createStore, dispose: () => scratch.remove() }
}
