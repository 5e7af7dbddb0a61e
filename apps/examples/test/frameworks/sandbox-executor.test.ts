/** @module-tag all */
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createSandboxExecutor, createSandboxSession } from '@ws/bridge-ai-sdk'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { createWorkspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, createScratchDirectory, describeWith } from '@ws/test-fixtures'

/** A workspace in memory, and a sandbox that knows nothing of it: real processes in a directory of their own. */
async function create() {
  const scratch = await createScratchDirectory()
  const machine = await createWorkspace({
    mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
    executors: [createBubblewrapExecutor()],
  })
  return {
    executor: createSandboxExecutor(createSandboxSession(machine)),
    createStore: async () => createMemoryAdapter(),
    async dispose() {
      await machine.close()
      await scratch.remove()
    },
  }
}
const crossesLater = 'what a command writes is in the workspace when it ends'

// `npm test` tries what the executor does by itself, in the tests of its package; the commands are those of bubblewrap
describeWith([component('bubblewrap')], 'the kit on a sandbox of the AI SDK', { tags: 'deep' }, () => {
  testWorkspace({
    name: 'sandbox',
    roots: ['/workspace'],
    departures: {
      '[RP20] /tmp is the workspace’s own, the same at both doors, and listed nowhere':
        'commands have the `/tmp` of the sandbox',
    },
    create,
  })
  testExecutor({
    name: 'sandbox',
    roots: ['/workspace'],
    departures: {
      'is there after an abort, as far as it came': crossesLater,
      'is the exit code, or 128 and the number of the signal': crossesLater,
      'an abort rejects with its reason, after the command has ended': crossesLater,
      'kill ends the command with that signal, and is false when it has ended': crossesLater,
      'leaving the scope of a running command ends it': crossesLater,
      'closing ends what runs': crossesLater,
      'one executor serves several workspaces, each with its own files': 'a sandbox serves one workspace',
      'an attached executor is closed once and again': 'a sandbox serves one workspace',
    },
    create,
  })
})
