import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { Ahead } from '../src/disk/ahead/ahead.ts'

const names = Array.from({ length: 2_500 }, (_, index) => `file-${String(index).padStart(4, '0')}`)
const last = names.at(-1) ?? ''

it('[UN1] a second thread for the looks has what was found since the look began, and nothing of an earlier look', async () => {
  await using scratch = await createScratchDirectory()
  for (const name of names) writeFileSync(join(scratch.path, name), name)
  const ahead = new Ahead()
  try {
    ahead.expect(new Set(names), 0, (name) => join(scratch.path, name))
    const found = (size: number | undefined): Promise<void> => {
      ahead.begin()
      return expect
        .poll(() => {
          const status = ahead.at(last)
          // the walk is there before the thread: the look begins anew
          if (status === undefined) ahead.begin()
          return status?.size
        })
        .toBe(size)
    }
    await found(last.length)
    writeFileSync(join(scratch.path, last), 'longer than before')
    ahead.begin()
    expect(ahead.at(last)?.size).not.toBe(last.length)
    await found('longer than before'.length)
    rmSync(join(scratch.path, last))
    ahead.begin()
    expect(ahead.at(last)).toBeUndefined()
  } finally {
    ahead.close()
  }
})
