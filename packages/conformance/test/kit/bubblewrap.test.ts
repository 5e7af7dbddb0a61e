import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { testExecutor, testWorkspace } from '../../src/vitest.ts'
import { onDisk } from './fixtures.ts'

const executor = createBubblewrapExecutor()

describeWith([component('bubblewrap'), component('proot')], 'bubblewrap', () => {
  const create = () => onDisk(executor)

  testExecutor({ name: 'bubblewrap', create })
  testWorkspace({ name: 'bubblewrap', create })
})
