import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

it('[RU8] a window of lines in a huge file without line ends is EFBIG at once, in little memory', async () => {
  const scratch = await createScratchDirectory()
  const path = join(scratch.path, 'f')
  await writeFile(path, 'first\n')
  await truncate(path, 2 ** 33) // sparse
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createLocalAdapter({ root: scratch.path, owner: scratch.owner }) }],
  })
  const before = process.memoryUsage.rss()
  expect(await workspace.readLines('/f', { limit: 1 })).toMatchObject({ lines: ['first'], nextOffset: 1 })
  await expect(workspace.readLines('/f')).rejects.toMatchObject({
    code: 'EFBIG',
    path: '/f',
    reason: expect.stringContaining('line 2'),
  })
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000)
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Error('enough')), 30)
  await expect(workspace.readLines('/f', { offset: 2, signal: stop.signal })).rejects.toThrow('enough')
  await workspace.close()
  await scratch.remove()
})
