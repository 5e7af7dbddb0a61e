/** @module-tag deep */
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createProotExecutor } from '@ws/executor-proot'
import { component, describeWith } from '@ws/test-fixtures'
import { afterAll } from 'vitest'
import type { WorkspaceFixture } from '@ws/conformance'
import { testWorkspace } from '@ws/conformance/vitest'
import { type MountedBucket, mountBucket, mountNeeds } from './bucket.ts'

const bubblewrap = createBubblewrapExecutor()
const proot = createProotExecutor()

let mounted: Promise<MountedBucket> | undefined
let count = 0

/** Stores beside one another in one mount. */
async function onMount(executor: WorkspaceFixture['executor']): Promise<WorkspaceFixture> {
  mounted ??= mountBucket({ timeouts: { writeBack: 50 } })
  const { bucket } = await mounted
  count += 1
  const place = `p${count}`
  let stores = 0
  return {
    executor,
    createStore: (name) => bucket.adapter(`${place}/${((stores += 1)) > 2 ? stores : 'threads'}/${name}`),
  }
}

describeWith([...mountNeeds, component('bubblewrap'), component('proot')], 'commands on a mount of Ceph', () => {
  afterAll(async () => {
    await (await mounted)?.[Symbol.asyncDispose]()
  })

  // the mount knows nothing of roots
  testWorkspace({ name: 'bubblewrap on rclone', create: () => onMount(bubblewrap), roots: ['/workspace'] })
  testWorkspace({ name: 'proot on rclone', create: () => onMount(proot), roots: ['/'] })
})
