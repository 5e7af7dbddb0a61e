import { createProotExecutor } from '@ws/executor-proot'
import { component, describeWith } from '@ws/test-fixtures'
import { testExecutor, testWorkspace } from '../../src/vitest.ts'
import { executorRoots, onDisk } from './fixtures.ts'

const executor = createProotExecutor()

describeWith(component('proot'), 'proot', () => {
  const create = () => onDisk(executor)

  testExecutor({ name: 'proot', create, roots: executorRoots('/') })
  testWorkspace({ name: 'proot', create })
})
