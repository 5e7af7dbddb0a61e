import { createMemoryAdapter } from '@ws/adapter-memory'
import { testAdapter } from '@ws/conformance/vitest'

import { createReplicaAdapter } from '../src/index.ts'

testAdapter({
  name: 'replica(memory)',
  create: async () => ({ adapter: await createReplicaAdapter({ store: createMemoryAdapter }) }),
})
