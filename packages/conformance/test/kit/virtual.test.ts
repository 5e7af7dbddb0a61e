import { createVirtualExecutor } from '@ws/executor-virtual'
import { testExecutor } from '../../src/vitest.ts'
import { inMemory, onDisk } from './fixtures.ts'

const executor = createVirtualExecutor()

testExecutor({ name: 'virtual on memory', create: () => inMemory(executor) })
testExecutor({ name: 'virtual on local', create: () => onDisk(executor) })
