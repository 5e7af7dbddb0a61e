/** @module-tag all */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'

import { deep, describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { kinds } from './support.ts'

const times = 2

for (const kind of kinds.filter(({ name }) => !name.endsWith('ceph') && name !== 'rclone')) {
  const isCopy = kind.name.startsWith('replica')
  // a copy is a tree of its own, and sends each file of it
  const most = deep ? 60 : 12
  const threadCount = isCopy ? 20 : most
  // a disk and memory have what is left: descriptors, processes and directories
  const tags = isCopy || kind.name === 'r2' ? ['deep'] : []
  describeWith(kind.needs, `many threads on ${kind.name}`, { tags }, () => {
    it(`[TH3] ${threadCount} are opened, used at both doors and closed, ${times} times, and leave nothing`, {
      tags: 'rounds',
    }, async () => {
      await using site = await kind.open()
      const run = async (): Promise<void> => {
        const threads = await site.open({ provision: false, idleTimeout: 0 })
        const open = await inParts(threadCount, (index) => threads.open({ threadId: `t${index}`, userId: 'u1' }))
        await inParts(threadCount, async (index) => {
          const { workspace } = open[index] ?? {}
          await workspace?.write('/a.txt', `${index}\n`)
          expect((await workspace?.exec('cat a.txt'))?.stdout).toBe(`${index}\n`)
        })
        await Promise.all(open.map((thread) => thread.close()))
        await threads.close()
      }
      await run() // what is kept for good, such as connections, is there after the first
      const before = counts(site.object !== undefined)
      for (let round = 0; round < times; round++) await run()
      // helpers of this process end a while after their last user
      await expect.poll(() => counts(true).processes).toBeLessThanOrEqual(before.processes)
      const after = counts(site.object !== undefined)
      expect(after.mounts).toBe(before.mounts)
      expect(after.temporary).toBe(before.temporary)
      expect(after.descriptors - before.descriptors).toBeLessThan(10)
    })
  })
}

async function inParts<Result>(count: number, make: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = next++
      results[index] = await make(index)
    }
  }
  await Promise.all(Array.from({ length: 8 }, worker))
  return results
}

function counts(overNetwork: boolean) {
  const children = readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      return readFileSync(`/proc/self/task/${thread}/children`, 'utf8').split(' ').filter(Boolean)
    } catch {
      return []
    }
  })
  return {
    // connections to a store come and go
    descriptors: readdirSync('/proc/self/fd').filter((fd) => !overNetwork || !isSocket(fd)).length,
    processes: children.length,
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(tmpdir())).length,
    temporary: readdirSync(tmpdir()).length,
  }
}

function isSocket(descriptor: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith('socket:')
  } catch {
    return false // the descriptor of the listing itself
  }
}
