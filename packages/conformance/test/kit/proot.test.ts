import { createProotExecutor } from '@ws/executor-proot'
import { component, describeWith } from '@ws/test-fixtures'
import { testExecutor } from '../../src/vitest.ts'
import { onDisk } from './fixtures.ts'

const executor = createProotExecutor()

describeWith(component('proot'), 'proot', () => {
  testExecutor({ name: 'proot', create: () => onDisk(executor) })
})
