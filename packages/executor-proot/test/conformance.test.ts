import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { atRoots, component, describeWith, onDisk } from '@ws/test-fixtures'
import { describe } from 'vitest'

import { createProotExecutor } from '../src/index.ts'

const executor = createProotExecutor()

describeWith(component('proot'), 'proot', () => {
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  atRoots('/', (roots) => testExecutor({ name: 'proot', create, roots }))
  // it starts programs slowly; bubblewrap has the same two doors on the same disk
  describe('the two doors', { tags: ['deep'] }, () => testWorkspace({ name: 'proot', create }))
})
