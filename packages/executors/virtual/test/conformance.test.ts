import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { createWorkspace } from '@ws/core'
import { atRoots, onDisk } from '@ws/test-fixtures'
import { afterAll, describe } from 'vitest'

import { createVirtualExecutor } from '../src/index.ts'

const executor = createVirtualExecutor({ python: true })
// its threads live as long as a workspace that uses it: one for all tests saves starting them for each
const keeper = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
  executors: [executor],
})
afterAll(() => keeper.close())

const inMemory = () => ({ executor, createStore: () => createMemoryAdapter() })

// the contract of the executor does not depend on the store
atRoots('/', (roots) => testExecutor({ name: 'virtual', create: inMemory, roots }))
testWorkspace({ name: 'virtual on memory', create: inMemory, roots: ['/'] })
describe('at /workspace', { tags: ['all'] }, () => {
  testWorkspace({ name: 'virtual on memory', create: inMemory, roots: ['/workspace'] })
})
// it sees the file door alone: another store adds nothing that its own tests do not show
describe('on a disk', { tags: ['deep'] }, () => {
  testWorkspace({ name: 'virtual on local', create: () => onDisk(executor, createLocalAdapter, storesBeside) })
})
