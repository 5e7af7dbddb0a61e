import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

import { createScratchAdapter } from '@ws/adapter-local'
import { paths } from '@ws/core'
import { describe, expect, it } from 'vitest'

import { Descent } from '../src/confine/descent.ts'
import { handleOf } from '../src/confine/handle.ts'
import type { Task } from '../src/confine/task.ts'
import { calls } from '../src/host/blocking.ts'
import { anyDirectory } from '../src/host/constants.ts'
import { at, collect, failureOf, openSite } from './support.ts'

const hasProc = existsSync('/proc/self/fd')

/** Directories, each in the one before, with a file at the bottom. Their paths may be longer than the system takes. */
function makeChain(root: string, name: string, depth: number): void {
  let fd = openSync(root, constants.O_DIRECTORY)
  for (let level = 0; level < depth; level += 1) {
    const next = `/proc/self/fd/${fd}/${name}`
    mkdirSync(next)
    const below = openSync(next, constants.O_DIRECTORY)
    closeSync(fd)
    fd = below
  }
  writeFileSync(`/proc/self/fd/${fd}/file`, 'x')
  closeSync(fd)
}

/** The most descriptors that were open beyond those before. */
async function mostOpen(work: Promise<unknown>): Promise<number> {
  const before = readdirSync('/proc/self/fd').length
  let most = 0
  let isOver = false
  const watched = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    most = Math.max(most, readdirSync('/proc/self/fd').length - before)
    await turn()
  }
  await watched
  return most
}

const depth = 150

describe.skipIf(!hasProc)('deep trees', () => {
  const holdFew = (io: 'auto' | 'async') => async () => {
    const { adapter, root } = await openSite({ io })
    makeChain(root, 'd', depth)
    makeChain(join(root, 'd/'.repeat(20)), 'e', 60)
    const listed: string[] = []
    const list = async (path: string) => {
      listed.length = 0
      for await (const entry of adapter.list(at(path), { recursive: true })) {
        listed.push(entry.path)
        await turn()
      }
    }
    expect(await mostOpen(list('/'))).toBeLessThan(100)
    expect(listed).toHaveLength(depth + 62)
    expect(await mostOpen(adapter.copy(at('/d'), at('/copy'), { recursive: true }))).toBeLessThan(100)
    await list('/copy')
    expect(listed).toHaveLength(depth + 61)
    const missing = adapter.stat(at(`${'/d'.repeat(depth)}/missing`))
    expect(await mostOpen(failureOf(missing))).toBeLessThan(100)
    for (const path of ['/d', '/copy']) {
      expect(await mostOpen(adapter.delete(at(path), { recursive: true }))).toBeLessThan(100)
    }
    expect(readdirSync(root)).toEqual([])
  }
  it('[HO6] hold few descriptors in list, copy and delete', holdFew('auto'))
  it('[HO6] hold few descriptors on the pool too', { tags: 'deep' }, holdFew('async'))

  it('[HO6] are listed whole, with the entries beside each directory on the way', async () => {
    const { adapter, root } = await openSite()
    let path = ''
    const expected: string[] = []
    for (let level = 0; level < 80; level += 1) {
      path += '/d'
      mkdirSync(root + path)
      const beside = Buffer.concat([Buffer.from(`${root}${path}/`), Buffer.from([0xff])])
      writeFileSync(beside, '')
      mkdirSync(`${root}${path}/z`)
      writeFileSync(`${root}${path}/z/file`, '')
      expected.push(path, `${path}/\\xff`, `${path}/z`, `${path}/z/file`)
    }
    for (const details of [false, true]) {
      const entries = await collect(adapter.list(at('/'), { recursive: true, details }))
      expect(entries.map((entry) => String(entry.path)).toSorted()).toEqual(expected.toSorted())
    }
  })

  it('[HO6] lead nowhere else when a directory is exchanged for a link while those below it are listed', async () => {
    const { adapter, root, outside } = await openSite()
    mkdirSync(join(root, 'd'))
    makeChain(join(root, 'd'), 'd', 60)
    for (const name of ['a', 'z']) {
      mkdirSync(join(root, 'd', name))
      mkdirSync(join(outside, name))
      writeFileSync(join(outside, name, 'secret'), '')
    }
    const seen: string[] = []
    for await (const { path, name } of adapter.list(at('/'), { recursive: true })) {
      seen.push(path)
      if (name !== 'file') continue
      renameSync(join(root, 'd'), join(root, 'away'))
      symlinkSync(outside, join(root, 'd'))
    }
    expect(seen.filter((path) => path.endsWith('/file'))).toHaveLength(1)
    expect(seen.filter((path) => path.includes('secret'))).toEqual([])
  })

  it('[HO6] are left upwards only to the directory that was entered', async () => {
    const { root, outside } = await openSite()
    makeChain(root, 'd', 40)
    mkdirSync(join(outside, 'd'))
    const task = { calls, tree: { verified: true }, operation: 'delete', path: paths.mountRoot } as unknown as Task
    const open = (path: string) => handleOf(openSync(path, anyDirectory))
    const start = open(root)
    const way = new Descent(task, start)
    let path = root
    for (let level = 0; level < 40; level += 1) await way.enter(open((path += '/d')))
    renameSync(join(root, 'd/d'), join(outside, 'd/d'))
    for (let level = 0; level < 38; level += 1) await way.leave()
    await expect(way.leave()).rejects.toMatchObject({ code: 'EAGAIN' })
    await way.end()
    closeSync(start.fd)
  })

  it('[HO6] of any depth are copied and deleted', { tags: 'deep' }, async () => {
    const { adapter, root } = await openSite()
    makeChain(root, 'd', 3_000)
    await adapter.copy(at('/d'), at('/copy'), { recursive: true })
    for (const path of ['/d', '/copy']) await adapter.delete(at(path), { recursive: true })
    expect(readdirSync(root)).toEqual([])
  })

  it('[HO6] in a scratch directory go with it', async () => {
    const adapter = await createScratchAdapter()
    const root = adapter.hostPath?.(paths.mountRoot) ?? ''
    makeChain(root, 'd', 100)
    expect(await mostOpen(adapter.close())).toBeLessThan(100)
    expect(existsSync(root)).toBe(false)
  })
})
