// Takes its turns on a thread of the bucket that is given, as one machine, until the log has as many lines as are wanted.
import { setTimeout as delay } from 'node:timers/promises'

import { createS3Adapter, type S3Credentials } from '@ws/adapter-s3'
import { isWorkspaceError } from '@ws/core'
import { createObjectLeases, createThreads } from '@ws/threads'

interface Task {
  readonly connection: {
    readonly endpoint: string
    readonly region: string
    readonly credentials: S3Credentials
    readonly bucket: string
  }
  /** Of two: it writes where the number of lines leaves this rest. */
  readonly rest: 0 | 1
  readonly until: number
  readonly ttl: number
}

const { connection, rest, until, ttl } = JSON.parse(process.argv[2] ?? '') as Task
const store = await createS3Adapter({ ...connection, forcePathStyle: true })
const leases = createObjectLeases({ adapter: store, directory: '.ws/threads', ttl })
const threads = await createThreads({ store, leases, provision: false, idleTimeout: 0 })
let isDone = false
while (!isDone) {
  try {
    const thread = await threads.open({ threadId: 't1', userId: 'u1', wait: 60_000 })
    const { workspace } = thread
    const log = (await workspace.exists('/log')) ? await workspace.readText('/log') : ''
    const lines = log.split('\n').length - 1
    isDone = lines >= until
    if (!isDone && lines % 2 === rest) {
      await workspace.append('/log', `${lines}\n`)
      await workspace.write('/count', `${lines + 1}\n`)
      console.log(lines)
    }
    await thread.close()
  } catch (error) {
    // a turn that was lost is taken again
    if (!isWorkspaceError(error) || !['ECLOSED', 'EBUSY', 'ETIMEDOUT'].includes(error.code)) throw error
    console.log(`lost ${error.code}`)
  }
  await delay(200) // the next turn is the other one's
}
await threads.close()
await store.close()
