import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { component, describeWith } from '@ws/test-fixtures'
import { testExecutor } from '../../src/vitest.ts'
import { onDisk } from './fixtures.ts'

const executor = createBubblewrapExecutor()

describeWith([component('bubblewrap'), component('proot')], 'bubblewrap', () => {
  testExecutor({ name: 'bubblewrap', create: () => onDisk(executor) })
})
