import { testExecutor, testWorkspace } from '@ws/conformance/vitest'
import { component, describeWith } from '@ws/test-fixtures'
import { executorRoots, onDisk } from '@ws/tests-support'

import { createProotExecutor } from '../src/index.ts'

const executor = createProotExecutor()

describeWith(component('proot'), 'proot', () => {
  const create = () => onDisk(executor)

  testExecutor({ name: 'proot', create, roots: executorRoots('/') })
  testWorkspace({ name: 'proot', create })
})
