/** @module-tag all */
import { createRcloneAdapter } from '@ws/adapter-rclone'
import { createWorkspace, type Workspace } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createCheckpoints } from '@ws/snapshots'
import { component, createScratchDirectory, describeWith, ordinaryOwner, rounds } from '@ws/test-fixtures'
import { seededRandom } from '@ws/test-fixtures/s3'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { expect, it, onTestFinished } from 'vitest'

import { mountNeeds } from './bucket.ts'

async function openSite(): Promise<Workspace> {
  const scratch = await createScratchDirectory({ prefix: 'ws-rclone-' })
  onTestFinished(() => scratch.remove())
  const state = await createScratchDirectory({ owner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 } })
  onTestFinished(() => state.remove())
  const server = await sharedS3Server('ceph')
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { endpoint, region, credentials, bucket } = server
  const workspace = await createWorkspace({
    mounts: [
      {
        at: '/',
        adapter: () =>
          createRcloneAdapter({
            ...{ endpoint, region, credentials, provider: 'Ceph', bucket, prefix: crypto.randomUUID() },
            ...{ owner: ordinaryOwner(), directory: scratch.path },
          }),
      },
    ],
    executors: [createBubblewrapExecutor()],
    checkpoints: createCheckpoints({ stateDirectory: `${state.path}/kept` }),
  })
  onTestFinished(() => workspace.close())
  return workspace
}

async function filesOf(workspace: Workspace): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { path, type } of workspace.list('/', { recursive: true }))
    found[path] = type === 'file' ? await workspace.readText(path) : type
  return found
}

/**
 * Commands that change a tree as a mount of rclone lets them. No name is a file now and a directory then: for a second, the mount
 * shows the one that was.
 */
function commands(seed: number, count: number): string {
  const random = seededRandom(seed)
  const pick = (items: readonly string[]): string => items[Math.floor(random() * items.length)] ?? ''
  const file = (): string => `'${pick(['', 'd/', 'd/e/'])}${pick(['a', 'b', 'c c'])}'`
  const kinds = [
    () => `mkdir -p ${pick(['d', 'd/e'])}`,
    () => `mkdir -p d/e; echo ${seed} > ${file()}`,
    () => `echo ${random()} > ${file()}`,
    () => `echo ${random()} >> ${file()}`,
    () => `: > ${file()}`,
    () => `rm -f ${file()}`,
    () => `rm -rf ${pick(['d', 'd/e'])}`,
    () => `mv ${file()} ${file()}`,
    () => `cp ${file()} ${file()}`,
  ]
  const lines = Array.from({ length: count }, () => `(${kinds[Math.floor(random() * kinds.length)]?.()}) 2>/dev/null`)
  return [...lines, 'true'].join('; ')
}

describeWith([...mountNeeds, component('bubblewrap')], 'checkpoints of a mount of rclone', () => {
  // a mount takes two seconds, a round three
  it('[UN1] [UN2] [UN3] random commands and calls are undone, and the undoing is undone', {
    tags: 'rounds',
    timeout: 400_000,
  }, async () => {
    const workspace = await openSite()
    for (const round of rounds({ quick: 2, most: 50, seconds: 20 })) {
      await workspace.exec(commands(round * 2, 10))
      await workspace.write('/by-call.txt', `before ${round}`)
      const before = await filesOf(workspace)
      const { id, leftOut } = await workspace.checkpoint()
      expect(leftOut).toEqual([])
      expect(await workspace.changes({ since: id }), `round ${round}`).toEqual([])

      await workspace.exec(commands(round * 2 + 1, 6))
      await workspace.write('/by-call.txt', `after ${round}`)
      const after = await filesOf(workspace)
      const changed = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path])
      const changes = await workspace.changes({ since: id })
      expect(
        changes.flatMap(({ path, from = path }) => [path, from]),
        `round ${round}`,
      ).toEqual(expect.arrayContaining(changed))

      const { kept, undo } = await workspace.restore(id)
      expect(kept, `round ${round}`).toEqual([])
      expect(await filesOf(workspace), `round ${round}`).toEqual(before)
      await workspace.restore(undo ?? '')
      expect(await filesOf(workspace), `round ${round}`).toEqual(after)
    }
  })
})
