import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { afterAll } from 'vitest'
import { testExecutor, testWorkspace } from '../../src/vitest.ts'
import { inMemory, onDisk } from './fixtures.ts'

const executor = createVirtualExecutor()
// its threads live as long as a workspace that uses it: one for all tests saves starting them for each
const keeper = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
  executors: [executor],
})
afterAll(() => keeper.close())

// the contract of the executor does not depend on the store
testExecutor({ name: 'virtual', create: () => inMemory(executor) })
testWorkspace({ name: 'virtual on memory', create: () => inMemory(executor) })
testWorkspace({ name: 'virtual on local', create: () => onDisk(executor) })
