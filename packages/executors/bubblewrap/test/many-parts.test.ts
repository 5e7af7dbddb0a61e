/** @module-tag all */
import { readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'

import { rules } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { useRuleSite } from './support/rule-site.ts'
import { modes, needed, tagsIn } from './support/workbench.ts'

const ticksPerSecond = 100

/** Processor seconds of this process and of all that it started. */
function spent(): number {
  const parents = new Map<number, number>()
  const ticks = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'latin1')
      const fields = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number)
      parents.set(Number(name), fields[1] ?? 0)
      ticks.set(
        Number(name),
        fields.slice(11, 15).reduce((sum, one) => sum + one, 0),
      )
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOurs = (pid: number): boolean => pid === process.pid || (pid > 1 && isOurs(parents.get(pid) ?? 0))
  return [...ticks].reduce((sum, [pid, time]) => sum + (isOurs(pid) ? time : 0), 0) / ticksPerSecond
}

for (const mode of modes) {
  describeWith(needed[mode], `a command with many protected parts (${mode})`, { tags: tagsIn(mode) }, () => {
    const site = useRuleSite(mode)

    it('[RU10] costs at most three times as much with 1,000 as with 10', {
      tags: 'deep',
      timeout: 240_000,
    }, async () => {
      const cost: number[] = []
      const workspace = await site.open(rules.denyGlob('*.pem'))
      for (let index = 0; index < 900; index++)
        await site.put(`many/${index % 90}/${index}.${index < 9 ? 'pem' : 'txt'}`)
      for (const round of ['few', 'many']) {
        if (round === 'many')
          for (let index = 9; index < 900; index++) {
            const path = join(site.root, `many/${index % 90}/${index}`)
            renameSync(`${path}.txt`, `${path}.pem`)
          }
        for (let warming = 0; warming < 3; warming++) await workspace.exec('true')
        const before = spent()
        for (let count = 0; count < 20; count++) await workspace.exec('true')
        cost.push((spent() - before) / 20)
      }
      const [few = 0, many = 0] = cost
      expect({ few, many, isCheap: many < few * 3 }).toMatchObject({ isCheap: true })
    })

    it('[RU10] is not started where a part is a link by then, and shows nothing of it', {
      timeout: 60_000,
    }, async () => {
      for (let index = 0; index < 260; index++) await site.put(`many/${index % 10}/${index}.pem`)
      await site.put('secret', 'the secret')
      const workspace = await site.open(rules.denyGlob('*.pem'), rules.deny(site.at('/secret')))
      const path = join(site.root, 'many/3/3.pem')
      let isOver = false
      const racing = (async () => {
        while (!isOver) {
          renameSync(path, `${path}.aside`)
          symlinkSync('../../secret', path)
          await new Promise((resolve) => setImmediate(resolve))
          unlinkSync(path)
          renameSync(`${path}.aside`, path)
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      for (let round = 0; round < 10; round++) {
        const outcome = await workspace.exec('cat secret many/*/*').catch((error: unknown) => error)
        const isRefused = outcome instanceof Error
        expect(isRefused ? outcome : (outcome as { stdout: string }).stdout).toSatisfy((value) =>
          isRefused ? /EBUSY|EIO/.test(String(value)) : !/the secret/.test(String(value)),
        )
      }
      isOver = true
      await racing
    })
  })
}
