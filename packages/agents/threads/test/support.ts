import { GetObjectCommand } from '@aws-sdk/client-s3'
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createReplicaAdapter } from '@ws/adapter-replica'
import { createS3Adapter } from '@ws/adapter-s3'
import { paths } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import type { Executor } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, createScratchDirectory, ordinaryOwner, type Component } from '@ws/test-fixtures'
import type { S3Server } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import {
  createObjectLeases,
  createThreads,
  type LeaseStore,
  type ReplicatedPart,
  type Threads,
  type ThreadsOptions,
} from '@ws/threads'

/** A store for threads, and commands that fit it. */
export interface Site extends AsyncDisposable {
  readonly store: StorageAdapter
  readonly executors: readonly Executor[]
  open(options?: Partial<ThreadsOptions>): Promise<Threads>
  put(path: string, text: string): Promise<void>
  text(path: string): Promise<string>
  /** The bytes of an object by a client of its own, which knows nothing of the store. Absent where there is no bucket. */
  readonly object?: ((key: string) => Promise<string>) | undefined
}

interface Kind {
  readonly name: string
  readonly needs: readonly Component[]
  /** Commands are processes, and the store holds links. */
  readonly processes: boolean
  open(): Promise<Site>
}

export const kinds: readonly Kind[] = [
  { name: 'memory', needs: [], processes: false, open: () => siteOf(createMemoryAdapter(), [createVirtualExecutor()]) },
  {
    name: 'local',
    needs: [component('bubblewrap'), component('python3-venv')],
    processes: true,
    async open() {
      const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
      const root = await scratch.createDirectory('store')
      return siteOf(await createLocalAdapter({ root }), [createBubblewrapExecutor()], { after: () => scratch.remove() })
    },
  },
  ...(['r2', 'ceph'] as const).map((name) => ({
    name,
    needs: s3Needs(name),
    processes: false,
    async open() {
      const server = await sharedS3Server(name)
      const store = await createS3Adapter({ client: server.client({ maxAttempts: 1 }), bucket: server.bucket })
      return siteOf(store, [createVirtualExecutor()], { after: () => server.close(), object: reader(server) })
    },
  })),
  ...(['r2', 'ceph'] as const).map((name) => ({
    name: `replica of ${name}`,
    needs: [...s3Needs(name), component('bubblewrap'), component('python3-venv')],
    processes: true,
    async open() {
      const server = await sharedS3Server(name)
      const client = server.client({ maxAttempts: 1 })
      const store = await createS3Adapter({ client, bucket: server.bucket, symlinks: 'rclonelink' })
      const replica = ({ store }: ReplicatedPart) => createReplicaAdapter({ store })
      const after = () => server.close()
      return siteOf(store, [createBubblewrapExecutor()], { after, replica, object: reader(server) })
    },
  })),
  {
    name: 'rclone',
    needs: [component('radosgw'), component('rclone'), component('fuse'), component('bubblewrap')],
    processes: true,
    async open() {
      const scratch = await createScratchDirectory({ prefix: 'ws-threads-' })
      const server = await sharedS3Server('ceph')
      const { endpoint, region, credentials, bucket } = server
      const store = await createRcloneAdapter({
        endpoint,
        region,
        credentials,
        bucket,
        owner: ordinaryOwner(),
        directory: scratch.path,
      })
      // a mount can hold no lease: they lie in the same bucket, by its API
      const api = await createS3Adapter({ client: server.client({ maxAttempts: 1 }), bucket })
      const leases = () => createObjectLeases({ adapter: api, directory: '.ws/threads' })
      const after = async (): Promise<void> => {
        await api.close()
        await server.close()
        await scratch.remove()
      }
      return siteOf(store, [createBubblewrapExecutor()], { after, leases, object: reader(server) })
    },
  },
]

function reader(server: S3Server): NonNullable<Site['object']> {
  const client = server.client()
  return async (Key) => {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: server.bucket, Key }))
    return (await Body?.transformToString()) ?? ''
  }
}

async function siteOf(
  store: StorageAdapter,
  executors: readonly Executor[],
  {
    after,
    leases,
    object,
    replica,
  }: Pick<Site, 'object'> &
    Pick<ThreadsOptions, 'replica'> & {
      readonly after?: () => Promise<void>
      readonly leases?: () => LeaseStore
    } = {},
): Promise<Site> {
  const opened: Threads[] = []
  return {
    store,
    executors,
    object,
    async open(options) {
      const threads = await createThreads({ store, executors, replica, leases: leases?.(), ...options })
      opened.push(threads)
      return threads
    },
    async put(path, text) {
      await store.write(paths.parseMount(path), Buffer.from(text), { parents: true })
    },
    async text(path) {
      const { bytes } = await store.read(paths.parseMount(path))
      return Buffer.from(bytes).toString('utf8')
    },
    async [Symbol.asyncDispose]() {
      for (const threads of opened) await threads.close()
      await store.close()
      await after?.()
    },
  }
}
