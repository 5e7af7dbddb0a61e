import { createMemoryAdapter } from '@ws/adapter-memory'
import { testAdapter } from '@ws/conformance/vitest'

import { faulty } from '../src/index.ts'

testAdapter({ name: 'faulty(memory)', create: () => ({ adapter: faulty(createMemoryAdapter()) }) })
