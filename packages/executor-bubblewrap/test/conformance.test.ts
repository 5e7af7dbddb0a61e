import { createLocalAdapter } from '@ws/adapter-local'
import { storesBeside } from '@ws/conformance'
import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { component, describeWith, onDisk } from '@ws/test-fixtures'

import { createBubblewrapExecutor } from '../src/index.ts'

const testRoot = (root: 'auto' | 'translated') => () => {
  const executor = createBubblewrapExecutor({ root })
  const create = () => onDisk(executor, createLocalAdapter, storesBeside)

  testExecutor({ name: 'bubblewrap', create })
  testWorkspace({ name: 'bubblewrap', create })
}

// the translated form has tests of its own for what is different in it: masks, escapes and races
for (const [root, tags] of [
  ['auto', []],
  ['translated', ['deep']],
] as const)
  describeWith(
    [component('bubblewrap'), component('proot')],
    `bubblewrap (${root})`,
    { tags: [...tags] },
    testRoot(root),
  )
