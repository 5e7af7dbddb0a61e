import { spawnSync } from 'node:child_process'
import { lstatSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace } from '@ws/core'
import { createCheckpoints } from '@ws/snapshots'
import { rounds } from '@ws/test-fixtures'
import { describe, expect, it } from 'vitest'

import { filesOf, machineOf, ownDirectory } from './support/site.ts'

describe('a try in a replica', { tags: 'rounds' }, () => {
  it('[UN3] of programs and calls is taken back in the store too, or kept there by path', async () => {
    const store = createMemoryAdapter({ files: { '/a/one.txt': '1', '/a/two.txt': '2', '/b.txt': 'b' } })
    const { replica, root } = await machineOf(store)
    const checkpoints = createCheckpoints({ stateDirectory: `${await ownDirectory()}/kept` })
    await using workspace = await createWorkspace({ mounts: [{ at: '/', adapter: replica }], checkpoints })
    const { uid, gid } = lstatSync(root)
    for (const round of rounds({ quick: 2, most: 1_000, seconds: 60 })) {
      const before = await filesOf(store)
      const script = `mkdir -p a/new; echo ${round} > a/new/x; echo ${round} >> a/two.txt; mv b.txt c${round}.txt; rm -rf a/gone; mkdir a/gone`
      const attempt = await workspace.try(
        async (view) => {
          const ended = spawnSync('sh', ['-c', script], { cwd: root, uid, gid })
          expect(ended.status, String(ended.stderr)).toBe(0)
          await view.write('/by-call.txt', `${round}`)
        },
        { exclusive: true },
      )
      const isKept = round % 2 === 1
      const { kept } = isKept ? await attempt.keep(['/a/two.txt']) : await attempt.drop()
      expect(kept, `round ${round}`).toEqual([])
      await workspace.flush()
      const after = await filesOf(store)
      const { ['/a/two.txt']: two, ...rest } = after
      const { ['/a/two.txt']: old, ...others } = before
      expect(rest, `round ${round}`).toEqual(others)
      if (isKept) expect(two).toContain(`${round}\n`)
      else expect(two).toEqual(old)
    }
  }, 120_000)
})
