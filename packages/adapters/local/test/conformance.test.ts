import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

import { testAdapter } from '@ws/conformance/vitest'
import { observe, paths, prefix, readOnly } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory } from '@ws/test-fixtures'
import { describe } from 'vitest'

import { createLocalAdapter } from '../src/index.ts'

const run = promisify(execFile)

interface DiskFixture {
  readonly adapter: StorageAdapter
  readonly makeFifo: (path: string) => Promise<void>
  readonly makeUnreachable: () => Promise<void>
  readonly removeRoot: () => Promise<void>
  readonly secrets: readonly string[]
  readonly dispose: () => Promise<void>
}

/** An adapter on a directory of its own, with what a test may do beside it. */
async function onDisk(io: 'auto' | 'async' = 'auto'): Promise<DiskFixture> {
  const directory = await createScratchDirectory({ prefix: 'ws-conformance-' })
  const adapter = await createLocalAdapter({ root: directory.path, io })
  return {
    adapter,
    makeFifo: async (path) => {
      await run('mkfifo', [`${directory.path}${path}`])
    },
    makeUnreachable: () => writeFile(Buffer.from(`${directory.path}/\xff`, 'latin1'), 'needle'),
    removeRoot: () => directory.remove(),
    secrets: [directory.path, 'ws-conformance', '/proc/self'],
    dispose: () => directory.remove(),
  }
}

testAdapter({ name: 'local', create: () => onDisk() })

// the contract on a mount of rclone runs on the same pool
describe('on the pool', { tags: ['deep'] }, () => {
  testAdapter({ name: 'local, everything on the pool', create: () => onDisk('async') })
})

// the layers are the same code as over memory, where the ordinary tests try them
describe('layers and large numbers', { tags: ['deep'] }, () => {
  testAdapter({ name: 'local', deep: true, create: () => onDisk() })

  testAdapter({
    name: 'prefix(local)',
    create: async () => {
      const { adapter, makeFifo, secrets, dispose } = await onDisk()
      await adapter.createDirectory(paths.parseMount('/where/it-lies'), { recursive: true })
      return {
        adapter: prefix(adapter, '/where/it-lies'),
        makeFifo: (path) => makeFifo(`/where/it-lies${path}`),
        removeRoot: () => adapter.delete(paths.parseMount('/where'), { recursive: true }),
        secrets: [...secrets, 'it-lies'],
        dispose,
      }
    },
  })

  testAdapter({
    name: 'readOnly(local)',
    create: async () => {
      const fixture = await onDisk()
      return { ...fixture, adapter: readOnly(fixture.adapter, { shared: true }), seed: fixture.adapter }
    },
  })

  testAdapter({
    name: 'observe(local)',
    create: async () => {
      const fixture = await onDisk()
      return { ...fixture, adapter: observe(fixture.adapter, () => undefined) }
    },
  })
})
