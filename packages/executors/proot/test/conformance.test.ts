import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside, testExecutor } from '@ws/conformance'
import { testWorkspace } from '@ws/conformance/vitest'
import { atRoots, component, describeWith, onDisk } from '@ws/test-fixtures'
import { tagsAllBut } from '@ws/test-fixtures/kit'
import { describe } from 'vitest'

import { createProotExecutor } from '../src/index.ts'

const executor = createProotExecutor()

/** Groups whose outcome the tracer can change; bubblewrap, which starts faster, shows the rest with the same processes. */
const decidedHere = ['probe', 'results', 'standard input', 'environment', 'guarantees', 'lifecycle']

describeWith(component('proot'), 'proot', () => {
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  atRoots('/', (roots) => testExecutor({ name: 'proot', create, roots }, tagsAllBut(...decidedHere)))
  // it starts programs slowly; bubblewrap has the same two doors on the same disk
  describe('the two doors', { tags: ['deep'] }, () => testWorkspace({ name: 'proot', create }))
})
