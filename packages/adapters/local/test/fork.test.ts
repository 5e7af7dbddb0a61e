import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

import { ordinaryOwner } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { tempPrefix } from '../src/internal.ts'
import { type Local, at, bytes, failureOf, isRoot, openSite, readText, scratch } from './support.ts'

/** Every entry below a directory with its state, but without the owner unless this user can give files away. */
function stateOf(top: string, below = Buffer.alloc(0)): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  const directory = Buffer.concat([Buffer.from(top), below])
  for (const name of readdirSync(directory, { encoding: 'buffer' })) {
    const path = Buffer.concat([below, Buffer.from('/'), name])
    const place = Buffer.concat([Buffer.from(top), path])
    const { mode, mtimeNs, uid, gid, nlink } = lstatSync(place, { bigint: true })
    const kind = Number(mode) & 0o170000
    found[path.toString('latin1')] = {
      ...{ mode: Number(mode).toString(8), mtime: mtimeNs / 1_000n, uid, gid, nlink },
      content: kind === 0o100000 ? readFileSync(place, 'latin1').slice(0, 1_000) : '',
    }
    if (kind === 0o040000) Object.assign(found, stateOf(top, path))
  }
  return found
}

async function fork(adapter: Local, directory?: string): Promise<{ readonly copy: Local; readonly place: string }> {
  const copy = (await adapter.createFork({ directory })) as Local
  onTestFinished(() => copy.close())
  return { copy, place: copy.hostPath(at('/')) }
}

/** Microseconds that no double of seconds holds exactly. */
const odd = 1_700_000_000.123457

describe('createFork on a disk', () => {
  it('[EF3] keeps every bit of the mode, the times, links, hard links, holes and names that are not text', async () => {
    const { adapter, root } = await openSite()
    await adapter.write(at('/dir/script'), bytes('#!'), { parents: true })
    mkdirSync(join(root, 'dir/closed/below'), { recursive: true })
    writeFileSync(join(root, 'dir/closed/below/file'), 'x'.repeat(100_000))
    symlinkSync('/etc/passwd', join(root, 'dir/link'))
    linkSync(join(root, 'dir/script'), join(root, 'other'))
    linkSync(join(root, 'dir/link'), join(root, 'other-link'))
    writeFileSync(Buffer.from(`${root}/\xff-\ufffd`, 'latin1'), 'no text')
    writeFileSync(Buffer.from(`${root}/dir/\ufffd`), 'text')
    const hole = openSync(join(root, 'hole'), 'w')
    writeSync(hole, 'in the middle', 5_000_000)
    closeSync(hole)
    truncateSync(join(root, 'hole'), 100_000_000)
    const owner = ordinaryOwner()
    for (const path of ['dir/closed', 'dir/closed/below', 'dir/closed/below/file'])
      if (isRoot) chownSync(join(root, path), owner.uid, owner.gid)
    chmodSync(join(root, 'dir/script'), 0o4711)
    chmodSync(join(root, 'dir/closed/below/file'), 0o400)
    chmodSync(join(root, 'dir/closed/below'), 0o1755)
    chmodSync(join(root, 'dir/closed'), 0o2555)
    lutimesSync(join(root, 'dir/link'), odd, odd)
    for (const path of ['dir/script', 'dir/closed/below/file', 'dir/closed', 'dir'])
      utimesSync(join(root, path), odd, odd)
    const before = stateOf(root)
    const { place } = await fork(adapter)
    const after = stateOf(place)
    // a second name of a link becomes a link of its own
    for (const one of [before, after])
      for (const path of ['/dir/link', '/other-link']) Object.assign(one[path] ?? {}, { nlink: 1n })
    expect(after).toEqual(before)
    expect(lstatSync(place).mode).toBe(lstatSync(root).mode)
    expect(lstatSync(join(place, 'dir/script')).ino).toBe(lstatSync(join(place, 'other')).ino)
    expect(lstatSync(join(place, 'dir/script')).ino).not.toBe(lstatSync(join(root, 'other')).ino)
    expect(lstatSync(join(place, 'hole')).blocks).toBeLessThan(2_000)
    expect(readFileSync(join(place, 'hole')).equals(readFileSync(join(root, 'hole')))).toBe(true)
  })

  it('[EF3] leaves out special files, temporary files and other mounts', async ({ skip }) => {
    const { adapter, root } = await openSite()
    await adapter.write(at('/dir/file'), bytes('x'), { parents: true })
    spawnSync('mkfifo', [join(root, 'dir/fifo')])
    writeFileSync(join(root, `dir/${tempPrefix}x`), '')
    mkdirSync(join(root, 'mnt'))
    if (isRoot) {
      const { status } = spawnSync('mount', ['--bind', join(root, 'dir'), join(root, 'mnt')])
      if (status !== 0) return skip('nothing can be mounted here')
      onTestFinished(() => void spawnSync('umount', ['-l', join(root, 'mnt')]))
    }
    const { place } = await fork(adapter)
    expect(readdirSync(place).sort()).toEqual(isRoot ? ['dir'] : ['dir', 'mnt'])
    expect(readdirSync(join(place, 'dir'))).toEqual(['file'])
  })

  it('[EF3] is closed to other users, on the disk of the root, and goes with its adapter', async () => {
    const { adapter, root } = await openSite()
    await adapter.write(at('/file'), bytes('x'))
    const { copy, place } = await fork(adapter)
    expect(lstatSync(join(place, '..')).mode & 0o777).toBe(0o700)
    expect(lstatSync(place).dev).toBe(lstatSync(root).dev)
    const { owner } = await copy.hostDirectory(at('/'))
    expect(owner).toEqual((await adapter.hostDirectory(at('/'))).owner)
    chmodSync(place, 0o555)
    await copy.close()
    expect(existsSync(join(place, '..'))).toBe(false)
  })

  it('[EF3] moves a copy to `directory` as a whole, and leaves nothing else beside it', async () => {
    const { adapter, outside } = await openSite()
    await adapter.write(at('/dir/file'), bytes('x'), { parents: true })
    symlinkSync('nowhere', join(outside, 'link'))
    for (const [directory, reason] of [
      [join(outside, 'link'), 'is not a directory'],
      [join(adapter.hostPath(at('/')), 'dir/new'), 'lies in the root'],
      ['/', 'holds something'],
    ] as const)
      expect(await failureOf(adapter.createFork({ directory }))).toMatchObject({
        code: 'EINVAL',
        reason: expect.stringContaining(reason),
      })
    const { copy, place } = await fork(adapter, join(outside, 'copy'))
    expect(await readText(copy, '/dir/file')).toBe('x')
    expect(place).toBe(join(outside, 'copy'))
    expect(readdirSync(outside).sort()).toEqual(['copy', 'link'])
  })

  it('[EF3] leaves nothing of a copy that the disk has no room for', async ({ skip }) => {
    if (!isRoot) return skip('only root can mount a small disk')
    const { path } = await scratch()
    const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=300k,mode=755', 'tmpfs', path])
    if (status !== 0) return skip('nothing can be mounted here')
    onTestFinished(() => void spawnSync('umount', ['-l', path]))
    const { adapter } = await openSite()
    await adapter.write(at('/dir/small'), bytes('x'), { parents: true })
    await adapter.write(at('/dir/large'), new Uint8Array(1_000_000).fill(1))
    expect(await failureOf(adapter.createFork({ directory: join(path, 'copy') }))).toMatchObject({
      code: 'ENOSPC',
      path: '/dir/large',
    })
    expect(readdirSync(path)).toEqual([])
  })

  it('[EF3] of a user that may not read everything is refused with the path, and leaves nothing', async ({ skip }) => {
    if (!isRoot) return skip('only root can give files to others')
    const { root, outside } = await openSite()
    const { uid, gid } = ordinaryOwner()
    writeFileSync(join(root, 'of-root'), 'x', { mode: 0o640 })
    chownSync(join(root, 'of-root'), 0, gid)
    utimesSync(join(root, 'of-root'), odd, odd)
    const call = (): Record<string, unknown> => {
      const source = new URL('../src/index.ts', import.meta.url).href
      const words = [
        '--conditions=@ws/source',
        '--input-type=module',
        '-e',
        forking,
        source,
        root,
        join(outside, 'copy'),
      ]
      const { stdout, stderr } = spawnSync(process.execPath, words, { uid, gid, encoding: 'utf8', cwd: '/' })
      return JSON.parse(stdout || JSON.stringify({ stderr })) as Record<string, unknown>
    }
    expect(call()).toEqual({ names: ['of-root'] })
    const { mode, mtimeMs, ...copied } = lstatSync(join(outside, 'copy/of-root'))
    expect([mode & 0o777, Math.trunc(mtimeMs), copied.uid]).toEqual([0o640, Math.trunc(odd * 1_000), uid])
    rmSync(join(outside, 'copy'), { recursive: true })
    mkdirSync(join(root, 'dir'))
    for (const path of ['dir/closed', 'dir/shut'] as const) {
      if (path === 'dir/shut') mkdirSync(join(root, path), { mode: 0o700 })
      else writeFileSync(join(root, path), 'x', { mode: 0o600 })
      expect(call(), path).toEqual({ code: 'EACCES', path: `/${path}` })
      expect(readdirSync(outside), path).toEqual([])
      rmSync(join(root, path), { recursive: true })
    }
  })
})

/** Forks under any user, and prints the outcome. */
const forking = `
const { createLocalAdapter } = await import(process.argv[1])
const { readdirSync } = await import('node:fs')
await using adapter = await createLocalAdapter({ root: process.argv[2] })
try {
  const directory = process.argv[3]
  await (await adapter.createFork({ directory })).close()
  console.log(JSON.stringify({ names: readdirSync(directory) }))
} catch ({ code, path }) {
  console.log(JSON.stringify({ code, path }))
}
`
