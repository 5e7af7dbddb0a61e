import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { createCheckpoints } from '@ws/snapshots'
import { createScratchDirectory } from '@ws/test-fixtures'
import { createThreads } from '@ws/threads'
import { createTools } from '@ws/tools'
import { expect, it, onTestFinished } from 'vitest'

it('[UN1] threads keep checkpoints, and the tools of one take back its own changes alone', async () => {
  const threads = await createThreads({
    store: createMemoryAdapter(),
    executors: [createVirtualExecutor()],
    checkpoints: createCheckpoints(),
  })
  onTestFinished(() => threads.close())
  const { workspace } = await threads.open({ threadId: 't1', userId: 'u1' })
  const { workspace: other } = await threads.open({ threadId: 't2', userId: 'u1' })
  await workspace.write('/a.txt', 'one')
  await using tools = createTools(workspace, { face: 'split', checkpoints: true })
  await tools.run('execute', { command: 'echo two > a.txt; echo new > b.txt' })
  const [first] = await workspace.checkpoints()
  expect(await other.checkpoints()).toEqual([])
  await other.write('/a.txt', 'of the other')
  const { text } = await tools.run('restore', { checkpoint: first?.id })
  expect(text).toContain('/b.txt')
  expect(await workspace.readText('/a.txt')).toBe('one')
  expect(await workspace.exists('/b.txt')).toBe(false)
  expect(await other.readText('/a.txt')).toBe('of the other')
})

it('[UN1] on a disk the checkpoints of a thread are there when it opens again', { tags: 'all' }, async () => {
  const scratch = await createScratchDirectory()
  const root = await scratch.createDirectory('store')
  const stateDirectory = await mkdtemp(join(tmpdir(), 'ws-state-'))
  onTestFinished(async () => {
    await scratch.remove()
    await rm(stateDirectory, { recursive: true })
  })
  const threads = await createThreads({
    store: () => createLocalAdapter({ root, owner: scratch.owner }),
    checkpoints: createCheckpoints({ stateDirectory }),
    idleTimeout: 0,
  })
  onTestFinished(() => threads.close())
  const first = await threads.open({ threadId: 't1', userId: 'u1' })
  await first.workspace.write('/a.txt', 'one')
  const { id } = await first.workspace.checkpoint()
  await first.workspace.write('/a.txt', 'two')
  await first.close()
  const { workspace } = await threads.open({ threadId: 't1', userId: 'u1' })
  const { workspace: other } = await threads.open({ threadId: 't2', userId: 'u1' })
  expect((await workspace.checkpoints()).map((one) => one.id)).toContain(id)
  expect(await other.checkpoints()).toEqual([])
  await workspace.restore(id)
  expect(await workspace.readText('/a.txt')).toBe('one')
})
