import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { component, describeWith } from '@ws/test-fixtures'
import { onDisk } from '@ws/tests-support'

import { createBubblewrapExecutor } from '../src/index.ts'

const testRoot = (root: 'auto' | 'translated') => () => {
  const executor = createBubblewrapExecutor({ root })
  const create = () => onDisk(executor)

  testExecutor({ name: 'bubblewrap', create })
  testWorkspace({ name: 'bubblewrap', create })
}

for (const root of ['auto', 'translated'] as const)
  describeWith([component('bubblewrap'), component('proot')], `bubblewrap (${root})`, testRoot(root))
