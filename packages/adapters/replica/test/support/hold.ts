// Holds a directory until it is killed.
import { createMemoryAdapter } from '@ws/adapter-memory'

import { createReplicaAdapter } from '../../src/index.ts'

const owner = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : undefined
await createReplicaAdapter({ store: createMemoryAdapter(), directory: process.argv[2], owner })
process.send?.('open')
setInterval(() => undefined, 1_000)
