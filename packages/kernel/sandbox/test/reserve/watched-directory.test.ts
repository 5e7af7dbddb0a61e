import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { WatchedDirectory } from '../../src/reserve/state-directory.ts'

describe('a directory that is asked for again and again', () => {
  let scratch: ScratchDirectory
  let path: string
  const watched = new WatchedDirectory()
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-watched-' })
    path = join(scratch.path, 'directory')
  })
  afterEach(async () => {
    vi.useRealTimers()
    await scratch.remove()
  })

  it('shows a change, a removal and one that was made since at once', async () => {
    expect(watched.status(path)).toBeUndefined()
    await mkdir(path)
    const first = watched.status(path)
    await writeFile(join(path, 'entry'), '')
    const second = watched.status(path)
    expect(second?.ino).toBe(first?.ino)
    expect(second?.mtimeNs).toBeGreaterThan(first?.mtimeNs ?? 0n)
    await rm(path, { recursive: true })
    expect(watched.status(path)).toBeUndefined()
    await mkdir(path)
    expect(watched.status(path)?.nlink).toBeGreaterThan(0n)
  })

  it('shows another one of that path within a second, and holds one descriptor', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    await mkdir(path)
    await mkdir(join(scratch.path, 'other'))
    const first = watched.status(path)
    const open = (await readdir('/proc/self/fd')).length
    for (let round = 0; round < 5; round++) {
      await rename(path, join(scratch.path, 'away'))
      await rename(join(scratch.path, 'other'), path)
      await rename(join(scratch.path, 'away'), join(scratch.path, 'other'))
      vi.advanceTimersByTime(1000)
      const now = watched.status(path)
      expect(now?.ino === first?.ino).toBe(round % 2 === 1)
    }
    expect((await readdir('/proc/self/fd')).length).toBe(open)
  })
})
