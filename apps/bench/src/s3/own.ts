import { createS3Adapter, probeS3Dialect } from '@ws/adapter-s3'
import { type Workspace, createWorkspace } from '@ws/core'
import { type StorageAdapter, parseMountPath } from '@ws/core/adapter'
import type { S3Connection } from '@ws/test-fixtures/s3'

import { drain, own } from '../measure.ts'
import { usualRules } from '../site.ts'
import { type S3Client, concurrency, partBytes } from './client.ts'

const root = '/workspace'

/** The adapter, with nothing around it. */
export async function openAdapter(connection: S3Connection): Promise<S3Client> {
  const adapter = await createAdapter(connection)
  const at = (key: string) => parseMountPath(`/${key}`)
  const search = adapter.search?.bind(adapter)
  if (search === undefined) throw new Error('the adapter has no search')
  return {
    name: 'adapter alone',
    put: (key, content) => adapter.write(at(key), content),
    get: async (key) => (await adapter.read(at(key))).bytes.length,
    list: (directory) => drain(adapter.list(at(directory))),
    upload: (key, content) => adapter.write(at(key), content()),
    download: async (key) => countBytes((await adapter.readStream(at(key))).stream),
    search: (directory, text) => drain(search({ pattern: text, in: at(directory), maxHits: 100_000 })),
    close: () => adapter.close(),
  }
}

/** The whole workspace: parsing, policy, mount table, audit. */
export async function openWorkspace(connection: S3Connection): Promise<S3Client> {
  const adapter = await createAdapter(connection)
  const workspace = await createWorkspace({ mounts: [{ at: root, adapter }], rules: usualRules(root) })
  listen(workspace)
  const at = (key: string): string => `${root}/${key}`
  return {
    name: own,
    put: (key, content) => workspace.write(at(key), content),
    get: async (key) => (await workspace.read(at(key))).bytes.length,
    list: (directory) => drain(workspace.list(at(directory))),
    upload: (key, content) => workspace.write(at(key), content()),
    download: async (key) => countBytes((await workspace.readStream(at(key))).stream),
    search: (directory, text) => drain(workspace.search(text, { in: at(directory), maxHits: 100_000 })),
    close: () => workspace.close(),
  }
}

async function createAdapter({ endpoint, region, bucket, credentials }: S3Connection): Promise<StorageAdapter> {
  const options = { endpoint, region, bucket, credentials, partBytes, concurrency }
  return createS3Adapter({ ...options, dialect: await probeS3Dialect(options) })
}

function listen(workspace: Workspace): void {
  let heard = 0
  workspace.on('access', () => (heard += 1))
}

async function countBytes(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) bytes += chunk.length
  return bytes
}
