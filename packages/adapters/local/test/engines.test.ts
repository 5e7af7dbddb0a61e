import { spawnSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'

import { concurrency, LinkSignal } from '@ws/core/adapter'
import { HostPaths } from '@ws/sandbox'
import { describe, expect, it, vi } from 'vitest'

import { createLocalAdapter } from '../src/index.ts'
import { Pace, isTurnOver, ownTurn, spend } from '../src/host/pace.ts'
import { NestedMounts, readMounts } from '../src/host/mounts.ts'
import { at, failureOf, scratch } from './support.ts'

/** Makes every synchronous call that could touch a mount fail, then does everything that an adapter can. */
const script = `
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { createLocalAdapter } = await import(process.argv[1])
const warm = await createLocalAdapter({ root: process.argv[2], io: 'async' })
await warm.write('/warm', new Uint8Array(1))
await warm.close()
const pure = new Set(['readlinkSync', 'readFileSync', 'openSync']) // of /proc only
const ofProc = new Set() // descriptors of such files, and of that list
// this user's list of reserved names, on a local disk
const isList = /[/]ws[/]reserved($|[/])/
for (const fd of fs.readdirSync('/proc/self/fd'))
  try {
    if (isList.test(fs.readlinkSync('/proc/self/fd/' + fd))) ofProc.add(Number(fd))
  } catch {} // that of the listing
const used = []
for (const name of Object.keys(fs).filter((name) => name.endsWith('Sync'))) {
  const original = fs[name]
  fs[name] = (...args) => {
    if (name === 'lstatSync' && args[0] === '/proc/self/fd') return original(...args)
    if (ofProc.has(args[0])) {
      if (name === 'closeSync') ofProc.delete(args[0])
      return original(...args)
    }
    const isPure = (pure.has(name) && String(args[0]).startsWith('/proc/')) || isList.test(String(args[0]))
    if (!isPure) used.push(name + ' ' + String(args[0]))
    const result = original(...args)
    if (isPure && name === 'openSync') ofProc.add(result)
    return result
  }
}
syncBuiltinESMExports()
const adapter = await createLocalAdapter({ root: process.argv[2], io: 'async' })
const content = new Uint8Array(10).fill(120)
await adapter.write('/a/b/f', content, { parents: true })
await adapter.write('/a/b/f', (async function* () { yield content })())
await adapter.write('/a/n', content, { ifVersion: 'absent' })
await adapter.append('/a/n', content)
await adapter.read('/a/n')
for await (const chunk of (await adapter.readStream('/a/n')).stream) chunk
await adapter.createSymlink('/l', 'a')
await adapter.readSymlink('/l')
await adapter.read('/l/n').catch(() => {})
await adapter.read('/missing').catch(() => {})
for await (const entry of adapter.list('/', { recursive: true, details: true })) await adapter.stat(entry.path)
for await (const hit of adapter.search({ pattern: 'x', regex: true, in: '/' })) hit
await adapter.copy('/a', '/c', { recursive: true })
await adapter.move('/a/n', '/m')
await adapter.move('/c', '/d')
await adapter.hostDirectory('/d')
await adapter.delete('/d', { recursive: true })
await adapter.delete('/m')
await adapter.close()
console.log(JSON.stringify(used))
`

describe('turns of the event loop', () => {
  it('who waits for one is let in first come, first served, and nobody into a turn that is used up', async () => {
    const turns: number[] = []
    let turn = 0
    let isCounting = true
    const count = (): void => {
      turn += 1
      if (isCounting) setImmediate(count)
    }
    setImmediate(count)
    const order: number[] = []
    try {
      spend(1)
      await Promise.all(
        Array.from({ length: 6 }, async (_, index) => {
          await ownTurn()
          order.push(index)
          turns.push(turn)
          expect(isTurnOver()).toBe(false)
          spend(index % 3 === 2 ? 1 : 0.01)
        }),
      )
    } finally {
      isCounting = false
    }
    expect(order).toEqual([0, 1, 2, 3, 4, 5])
    expect(turns.slice(0, 3)).not.toContain(turns[3])
  })
})

describe('the asynchronous engine', () => {
  it('makes no synchronous call that touches the tree', async () => {
    const { path } = await scratch()
    const { path: state } = await scratch()
    const args = ['--conditions=@ws/source', '--input-type=module', '-e', script]
    const run = spawnSync(process.execPath, [...args, join(import.meta.dirname, '../src/index.ts'), path], {
      cwd: join(import.meta.dirname, '..'),
      // other processes change the list of this user meanwhile
      env: { ...process.env, WS_STATE_DIRECTORY: join(state, 'ws') },
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    expect(JSON.parse(run.stdout)).toEqual([])
  })

  it('lets only so many calls in at once where a mount may hang', async () => {
    const semaphore = new concurrency.Semaphore(2)
    const { promise: hang, resolve } = Promise.withResolvers<void>()
    let inside = 0
    const started: number[] = []
    const calls = [0, 1, 2, 3].map(async (index) => {
      await semaphore.acquire()
      inside += 1
      started.push(index)
      expect(inside).toBeLessThanOrEqual(2)
      await hang
      inside -= 1
      semaphore.release()
    })
    await new Promise(setImmediate)
    expect(started).toEqual([0, 1])
    resolve()
    await Promise.all(calls)
    expect(started).toEqual([0, 1, 2, 3])
  })

  it('is chosen for a while after a slow call', () => {
    const clock = vi.spyOn(performance, 'now')
    try {
      let delay = 0
      const pace = new Pace(() => delay)
      clock.mockReturnValue(1_000)
      pace.spent(1)
      expect(pace.isSlow).toBe(false)
      pace.spent(50)
      expect(pace.isSlow).toBe(true)
      clock.mockReturnValue(1_150)
      expect(pace.isSlow).toBe(false)
      pace.spent(50) // again at once: it stays away longer
      clock.mockReturnValue(1_300)
      expect(pace.isSlow).toBe(true)
      clock.mockReturnValue(9_000)
      delay = 40
      pace.spent(50) // most of it waiting for a processor: the disk is not slow
      expect(pace.isSlow).toBe(false)
    } finally {
      clock.mockRestore()
    }
  })

  it('is chosen for kinds of file system that may hang', () => {
    for (const type of ['fuse', 'fuse.rclone', 'fuseblk', 'nfs4', 'cifs', '9p'])
      expect(HostPaths.isSlowType(type)).toBe(true)
    for (const type of ['ext4', 'xfs', 'btrfs', 'tmpfs', 'overlay', 'fusectl'])
      expect(HostPaths.isSlowType(type)).toBe(false)
    for (const { at: place } of readMounts()) expect(place.startsWith('/')).toBe(true)
    expect(new NestedMounts('/nowhere').touchesSlow('/nowhere/x')).toBe(false)
  })
})

describe('with /proc', () => {
  it('verifies what it opens', async () => {
    const { path } = await scratch()
    await using adapter = await createLocalAdapter({ root: path })
    expect(adapter.capabilities.confinement).toBe(process.platform === 'linux' ? 'verified' : 'checked')
    await symlink('/', join(path, 'l'))
    expect(await failureOf(adapter.read(at('/l/etc/hostname')))).toBeInstanceOf(LinkSignal)
  })
})
