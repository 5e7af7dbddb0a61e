/** @module-tag all */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'

import { createS3Adapter } from '@ws/adapter-s3'
import { createScratchDirectory, itWith, rounds } from '@ws/test-fixtures'
import { s3Needs, sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'

import { randomOf } from './support/random.ts'
import { ownDirectory, siteOf } from './support/site.ts'
import { storeTreeOf, treeOf } from './support/tree-of.ts'

const program = fileURLToPath(new URL('support/trying.ts', import.meta.url))

/** Runs the program to a random moment, and kills it. Returns the trees of which one must be there. */
async function killed(root: string, stateDirectory: string, seed: number): Promise<Record<string, string>[]> {
  const random = randomOf(seed)
  const child = spawn(process.execPath, ['--conditions=@ws/source', program, root, stateDirectory, String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const closed = once(child, 'close')
  let last = ''
  let lines = 0
  const wanted = 1 + Math.floor(random() * 6)
  const { promise, resolve } = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    last = line
    lines += 1
    if (lines === wanted) resolve()
  })
  await Promise.race([promise, closed])
  await delay(random() * 60)
  child.kill('SIGKILL')
  await closed
  return JSON.parse(last) as Record<string, string>[]
}

describe('a process that is killed in a try', { tags: 'rounds' }, () => {
  it('[UN6] leaves the tree from before, or the kept one, to the next workspace, at each of many moments', async () => {
    await using root = await createScratchDirectory()
    const stateDirectory = join(await ownDirectory(), 'kept')
    let dropped = 0
    for (const round of rounds({ quick: 6, most: 150, seconds: 400 })) {
      const allowed = await killed(root.path, stateDirectory, round + 1)
      const { workspace } = await siteOf({ root: root.path, stateDirectory })
      const found = treeOf(root.path)
      const one = allowed.find((tree) => isDeepStrictEqual(tree, found)) ?? allowed[0]
      expect(found, `round ${round}`).toEqual(one)
      if (workspace.droppedTry !== undefined) {
        dropped += 1
        expect(workspace.droppedTry.kept, `round ${round}`).toEqual([])
        expect((await workspace.checkpoints()).at(-1)?.id).toBe(workspace.droppedTry.undo)
      }
      await workspace.close()
      const again = await siteOf({ root: root.path, stateDirectory })
      expect(again.workspace.droppedTry).toBeUndefined()
      await again.workspace.close()
    }
    expect(dropped).toBeGreaterThan(0)
  }, 600_000)

  itWith(
    s3Needs('ceph'),
    '[UN6] leaves the same in a bucket',
    async () => {
      const { bucket, endpoint, region, credentials } = await sharedS3Server('ceph')
      const stateDirectory = join(await ownDirectory(), 'kept')
      const place = { bucket, prefix: randomUUID(), endpoint, region, credentials }
      for (const round of rounds({ quick: 3, most: 50, seconds: 120 })) {
        const allowed = await killed(JSON.stringify(place), stateDirectory, round + 1)
        const { workspace } = await siteOf({ adapter: await createS3Adapter(place), stateDirectory })
        const found = await storeTreeOf(workspace)
        const one = allowed.find((tree) => isDeepStrictEqual(tree, found)) ?? allowed[0]
        expect(found, `round ${round}`).toEqual(one)
        await workspace.close()
      }
    },
    { timeout: 600_000 },
  )
})
