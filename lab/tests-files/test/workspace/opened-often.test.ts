import { createLocalAdapter } from '@ws/adapter-local'
import { createWorkspace } from '@ws/core'
import { createScratchDirectory } from '@ws/test-fixtures'
import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'

it('[HO2] 50 workspaces whose adapters are given as functions leave no descriptor', async () => {
  await using directory = await createScratchDirectory()
  const use = async (): Promise<void> => {
    await using workspace = await createWorkspace({
      mounts: [{ at: '/workspace', adapter: () => createLocalAdapter({ root: directory.path }) }],
    })
    await workspace.write('hello.txt', 'hello')
    await workspace.write('/tmp/scratch.txt', 'hello')
  }
  await use()
  const before = readdirSync('/proc/self/fd').length
  for (let round = 0; round < 50; round++) await use()
  expect(readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before)
})
