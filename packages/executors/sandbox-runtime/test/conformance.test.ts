import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'
import { describe } from 'vitest'

import { createSandboxRuntimeExecutor } from '../src/index.ts'

const executor = createSandboxRuntimeExecutor()

/** Stores on the disk, whose paths are those of the workspace. */
async function create() {
  const scratch = await createScratchDirectory()
  const open = async (path: string) =>
    createLocalAdapter({ root: await scratch.createDirectory(path), owner: scratch.owner })
  const root = `${scratch.path}/threads/t1`
  await scratch.createDirectory('threads/t1')
  return { executor, root, createStore: storesBeside(open), dispose: () => scratch.remove() }
}

const suite = { name: 'sandbox-runtime', create, roots: ['own'] as const }

const departures = {
  '[RP20] /tmp is the workspace’s own, the same at both doors, and listed nowhere': 'commands see it at `$TMPDIR`',
  '[PC12, PC19] of this machine name nothing in the workspace, and no error shows one':
    'they are those of the workspace',
}

describeWith(component('sandbox-runtime'), 'sandbox-runtime', () => {
  testExecutor(suite)
  describe('the two doors', { tags: ['deep'] }, () => testWorkspace({ ...suite, departures }))
})
