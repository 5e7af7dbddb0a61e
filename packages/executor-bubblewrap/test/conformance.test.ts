import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { atRoots, component, describeWith, onDisk } from '@ws/test-fixtures'

import { createBubblewrapExecutor } from '../src/index.ts'

describeWith([component('bubblewrap'), component('proot')], 'bubblewrap', () => {
  const create = () => onDisk(createBubblewrapExecutor(), createLocalAdapter, storesBeside)

  atRoots('/', (roots) => testExecutor({ name: 'bubblewrap', create, roots }))
  testWorkspace({ name: 'bubblewrap', create })
})

// the translated form has tests of its own for what is different in it: masks, escapes and races
describeWith([component('bubblewrap'), component('proot')], 'bubblewrap, translated', { tags: ['deep'] }, () => {
  const executor = createBubblewrapExecutor({ root: 'translated' })
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  testExecutor({ name: 'bubblewrap', create, roots: ['/'] })
  testWorkspace({ name: 'bubblewrap', create, roots: ['/'] })
})
