/** @module-tag deep */
import { createS3Adapter, probeS3Dialect } from '@ws/adapter-s3'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll } from 'vitest'
import { storesBeside } from '@ws/conformance'
import { testWorkspace } from '@ws/conformance/vitest'

const executor = createVirtualExecutor()
// its threads live as long as a workspace that uses it: one for all tests saves starting them for each
const keeper = await createWorkspace({
  mounts: [{ at: '/', adapter: () => createMemoryAdapter() }],
  executors: [executor],
})
const server = await sharedS3Server('r2')
const { bucket, endpoint, region, credentials } = server
const place = { bucket, endpoint, region, credentials }
const dialect = await probeS3Dialect(place)
afterAll(async () => {
  await keeper.close()
  await server.close()
})

let used = 0

/** Stores beside one another in one bucket. */
const variants = [
  { symlinks: 'off', roots: ['/'] },
  { symlinks: 'rclonelink', roots: ['/workspace'] },
] as const
for (const { symlinks, roots } of variants) {
  testWorkspace({
    name: `virtual on s3, links ${symlinks}`,
    roots,
    create: () => {
      used += 1
      const prefix = String(used)
      return {
        executor,
        createStore: storesBeside((path) =>
          createS3Adapter({ ...place, dialect, symlinks, prefix: `${prefix}/${path}` }),
        ),
      }
    },
  })
}
