import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, type Workspace } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { createScratchDirectory, itWith, deep } from '@ws/test-fixtures'
import { s3ServerNames } from '@ws/test-fixtures/s3'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { chmod, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const writers = 8

/** Every writer has its own workspace and its own lines in one file, and moves each on as often as `rounds` says. */
async function race(open: (writer: number) => Promise<Workspace>, rounds: number): Promise<number> {
  const spaces = await Promise.all(Array.from({ length: writers }, (_, writer) => open(writer)))
  const line = (writer: number, round: number): string => `writer ${writer} is at ${round}\n`
  await spaces[0]?.write('/shared', spaces.map((_, writer) => line(writer, 0)).join(''))
  let attempts = 0
  await Promise.all(
    spaces.map(async (workspace, writer) => {
      for (let round = 1; round <= rounds; round += 1) {
        const edit = { oldText: line(writer, round - 1), newText: line(writer, round) }
        const result = await workspace.edit('/shared', edit, { timeout: 60_000 })
        attempts += result.attempts
      }
    }),
  )
  expect(await spaces[0]?.readText('/shared')).toBe(spaces.map((_, writer) => line(writer, rounds)).join(''))
  for (const workspace of spaces) await workspace.close()
  return attempts
}

const over = (adapter: StorageAdapter | (() => Promise<StorageAdapter>)): Promise<Workspace> =>
  createWorkspace({ mounts: [{ at: '/', adapter }] })

describe(`[PC23] ${writers} writers of one file lose nothing`, { tags: 'rounds', timeout: 300_000 }, () => {
  it('in memory', async () => {
    const adapter = createMemoryAdapter()
    await race(() => over(adapter), deep ? 500 : 50)
    await adapter.close()
  })

  it('in a directory, each with an adapter of its own', async () => {
    const scratch = await createScratchDirectory()
    const root = await scratch.createDirectory('root')
    await race(() => over(async () => createLocalAdapter({ root, owner: scratch.owner })), deep ? 200 : 20)
    await scratch.remove()
  })

  for (const name of s3ServerNames) {
    const tags = ['deep']
    const inBucket = async () => {
      const { close, bucket, endpoint, region, credentials } = await sharedS3Server(name)
      const place = { bucket, endpoint, region, credentials, prefix: 'edits' }
      const rounds = deep ? 25 : 5
      const attempts = await race(() => over(() => createS3Adapter(place)), rounds)
      expect(attempts, 'they met').toBeGreaterThan(writers * rounds)
      await close()
    }
    itWith(s3Needs(name), `in a bucket of ${name}, each with an adapter of its own`, inBucket, { tags })
  }
})

it('an edit keeps the permission bits', async () => {
  const scratch = await createScratchDirectory()
  const root = await scratch.createDirectory('root')
  const workspace = await over(async () => createLocalAdapter({ root, owner: scratch.owner }))
  await workspace.write('/run.sh', '#!/bin/sh\necho one\n', { mode: 0o750 })
  await chmod(join(root, 'run.sh'), 0o750)
  await workspace.edit('/run.sh', { oldText: 'one', newText: 'two' })
  expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o750)
  await workspace.close()
  await scratch.remove()
})
