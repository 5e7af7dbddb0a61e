import { readdirSync, rmSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'

import { createScratchDirectory } from '@ws/test-fixtures'
import { expect, it } from 'vitest'

import { RunDirectories } from '../src/run-directories.ts'
import { SkeletonCache } from '../src/skeleton.ts'

it('[HO2] a skeleton that could not be made leaves nothing, and its name to the next one', async () => {
  await using scratch = await createScratchDirectory()
  const cache = new SkeletonCache(scratch.path)
  const tooLong = [
    { at: '/usr/bin', type: 'directory' },
    { at: `/${'x'.repeat(300)}`, type: 'file' },
  ] as const
  expect(() => cache.get(tooLong, [])).toThrow('ENAMETOOLONG')
  expect(readdirSync(scratch.path)).toEqual([])
  expect(readdirSync(cache.get(tooLong.slice(0, 1), []))).toEqual(['usr'])
})

it('[HO2] a directory for the next command that cannot be made beforehand ends nothing', async () => {
  await using scratch = await createScratchDirectory()
  const parent = await scratch.createDirectory('parent')
  const runs = new RunDirectories(parent, scratch.owner)
  runs.take()
  rmSync(parent, { recursive: true })
  await turn()
  expect(() => runs.take()).toThrow('ENOENT')
  await scratch.createDirectory('parent')
  expect(readdirSync(runs.take().path)).toEqual(['shm'])
  runs.close()
})
