import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { testExecutor, testWorkspace } from '../../src/vitest.ts'
import { onDisk } from './fixtures.ts'

const testRoot = (root: 'auto' | 'translated') => () => {
  const executor = createBubblewrapExecutor({ root })
  const create = () => onDisk(executor)

  testExecutor({ name: 'bubblewrap', create })
  testWorkspace({ name: 'bubblewrap', create })
}

for (const root of ['auto', 'translated'] as const)
  describeWith([component('bubblewrap'), component('proot')], `bubblewrap (${root})`, testRoot(root))
