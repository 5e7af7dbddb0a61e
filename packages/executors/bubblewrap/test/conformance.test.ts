import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside, testWorkspace as testDoors } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { atRoots, component, describeWith, onDisk } from '@ws/test-fixtures'
import { tagsAllBut } from '@ws/test-fixtures/kit'
import { describe } from 'vitest'

import { createBubblewrapExecutor } from '../src/index.ts'

/** Groups in which the kernel decides; the virtual executor shows the rest of the two doors, and those at `/`. */
const decidedHere = [
  'the same files',
  'names',
  'programs',
  'writing',
  'a denied subtree',
  'legitimate work beside a protected part',
  'a directory that is exchanged for a link while a command starts',
]

describeWith([component('bubblewrap'), component('proot')], 'bubblewrap', () => {
  const create = () => onDisk(createBubblewrapExecutor(), createLocalAdapter, storesBeside)

  atRoots('/', (roots) => testExecutor({ name: 'bubblewrap', create, roots }))
  testDoors({ name: 'bubblewrap', create, roots: ['/workspace'] }, tagsAllBut(...decidedHere))
  describe('at /', { tags: ['all'] }, () => testWorkspace({ name: 'bubblewrap', create, roots: ['/'] }))
})

// the translated form has tests of its own for what is different in it: masks, escapes and races
describeWith([component('bubblewrap'), component('proot')], 'bubblewrap, translated', { tags: ['deep'] }, () => {
  const executor = createBubblewrapExecutor({ root: 'translated' })
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  testExecutor({ name: 'bubblewrap', create, roots: ['/'] })
  testWorkspace({ name: 'bubblewrap', create, roots: ['/'] })
})
