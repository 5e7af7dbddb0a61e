import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { component, itWith, ordinaryOwner } from '@ws/test-fixtures'
import type { Owner } from '@ws/core/adapter'
import { describe, expect, it, onTestFinished } from 'vitest'

import { createLocalAdapter, createScratchAdapter } from '../src/index.ts'
import { type Local, at, bytes, failureOf, isRoot, open, openSite, scratch } from './support.ts'

describe.skipIf(!isRoot)('as root', () => {
  it('everything that is created belongs to the owner of the root directory', async () => {
    const { adapter, root } = await openSite()
    await adapter.write(at('/a/b/file'), bytes('x'), { parents: true })
    await adapter.write(at('/a/b/file'), bytes('y'))
    await adapter.write(at('/a/once'), bytes('y'), { ifVersion: 'absent' })
    await adapter.write(at('/a/empty'), bytes(''), { ifVersion: 'absent' })
    await adapter.append(at('/a/log'), bytes('z'))
    await adapter.createDirectory(at('/d'))
    await adapter.createDirectory(at('/e/f/g'), { recursive: true })
    await adapter.createSymlink(at('/link'), 'a')
    await adapter.copy(at('/a'), at('/copy/of/a'), { recursive: true, parents: true })
    await adapter.copy(at('/link'), at('/link2'))
    await adapter.move(at('/d'), at('/m/n/d'), { parents: true })
    for (const name of await readdir(root, { recursive: true })) {
      const { uid, gid } = await lstat(join(root, name))
      expect({ name, uid, gid }).toEqual({ name, ...ordinaryOwner() })
    }
  })

  it('an append takes setuid and setgid off, as the kernel does for an ordinary writer', async () => {
    const { adapter, root } = await openSite()
    for (const [before, after] of [
      [0o4755, 0o755],
      [0o2755, 0o755],
      [0o6711, 0o711],
      [0o2644, 0o2644], // the bit means something else where the group may not execute
      [0o1644, 0o1644],
    ] as const) {
      const name = before.toString(8)
      await adapter.write(at(`/${name}`), bytes('x'))
      await chmod(join(root, name), before)
      await adapter.append(at(`/${name}`), bytes(''))
      expect((await lstat(join(root, name))).mode & 0o7777, `${name}, nothing appended`).toBe(before)
      await adapter.append(at(`/${name}`), bytes('y'))
      expect((await lstat(join(root, name))).mode & 0o7777, name).toBe(after)
    }
  })

  it('a directory of root has no owner for commands, and says what to do; files work', async () => {
    const { path } = await scratch()
    await chown(path, 0, 0)
    const adapter = await open(path)
    await adapter.write(at('/f'), bytes('x'))
    const { owner, ownerProblem } = await adapter.hostDirectory(at('/'))
    expect(owner).toBeUndefined()
    expect(ownerProblem).toEqual({
      reason: 'commands never run as root, and root owns the directory',
      remedy: 'pass `owner: { uid, gid }` of an ordinary user, and give the directory to that user',
    })
  })

  it('an owner that cannot reach or cannot write the directory is a problem with a remedy', async () => {
    const { path } = await scratch()
    const root = join(path, 'closed/root')
    await mkdir(root, { recursive: true })
    const owner = { uid: 1234, gid: 1234 }
    const adapter = await open(root, { owner })
    expect((await adapter.hostDirectory(at('/'))).ownerProblem?.remedy).toContain('chown 1234:1234')
    await chown(root, owner.uid, owner.gid)
    expect(await adapter.hostDirectory(at('/'))).toMatchObject({ path: root, owner })
    await chmod(join(path, 'closed'), 0o700)
    const { ownerProblem } = await adapter.hostDirectory(at('/'))
    expect(ownerProblem?.reason).toContain('cannot reach')
    expect(JSON.stringify(ownerProblem)).not.toContain(path)
  })

  it('a directory that `create` makes belongs to the owner, the one above it, or an ordinary user', async () => {
    const { path } = await scratch()
    const open = async (root: string, owner?: Owner) => {
      const adapter = await createLocalAdapter({ root: join(path, root), create: true, owner })
      onTestFinished(() => adapter.close())
      const { uid, gid, mode } = await lstat(join(path, root))
      const problem = (await adapter.hostDirectory?.(at('/')))?.ownerProblem
      return { uid, gid, mode: mode & 0o777, problem }
    }
    const made = { mode: 0o755, problem: undefined }
    expect(await open('by-parent')).toEqual({ ...ordinaryOwner(), ...made })
    expect(await open('named', { uid: 1234, gid: 1235 })).toEqual({ uid: 1234, gid: 1235, ...made })
    await chown(path, 0, 0)
    expect(await open('by-root')).toEqual({ uid: 1000, gid: 1000, ...made })
    // an existing directory keeps its owner
    await mkdir(join(path, 'old'), 0o700)
    expect(await open('old')).toMatchObject({ uid: 0, mode: 0o700 })
  })

  it('a full disk is ENOSPC, the old content stays and no temporary file', async ({ skip }) => {
    const { path } = await scratch()
    const mounted = spawnSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', path])
    if (mounted.status !== 0) skip('mounting is not permitted here')
    onTestFinished(() => void spawnSync('/usr/bin/umount', ['-l', path]))
    const adapter = await open(path)
    await adapter.write(at('/f'), bytes('old'))
    await adapter.append(at('/log'), bytes('start'))
    const big = new Uint8Array(1_000_000).fill(1)
    expect(await failureOf(adapter.write(at('/f'), big))).toMatchObject({ code: 'ENOSPC', path: '/f' })
    expect(await failureOf(adapter.append(at('/log'), big))).toMatchObject({ code: 'ENOSPC' })
    expect(new TextDecoder().decode((await adapter.read(at('/f'))).bytes)).toBe('old')
    expect((await adapter.stat(at('/log'))).size).toBe(5)
    expect((await readdir(path)).toSorted()).toEqual(['f', 'log'])
  })

  it('a mount inside stops a recursive delete before anything is gone, and a move across it', async ({ skip }) => {
    const { adapter, root } = await openSite()
    await adapter.write(at('/d/f'), bytes('x'), { parents: true })
    await mkdir(join(root, 'd/mnt'))
    if (spawnSync('/usr/bin/mount', ['-t', 'tmpfs', 'tmpfs', join(root, 'd/mnt')]).status !== 0) {
      skip('mounting is not permitted here')
    }
    onTestFinished(() => void spawnSync('/usr/bin/umount', ['-l', join(root, 'd/mnt')]))
    await writeFile(join(root, 'd/mnt/g'), 'x')
    expect(await failureOf(adapter.delete(at('/d'), { recursive: true }))).toMatchObject({ code: 'EBUSY' })
    expect(await readdir(join(root, 'd'))).toEqual(['f', 'mnt'])
    expect(await failureOf(adapter.move(at('/d/f'), at('/d/mnt/f')))).toMatchObject({ code: 'ENOTSUP' })
    expect(await readdir(join(root, 'd/mnt'))).toEqual(['g'])
  })
})

describe('scratch', () => {
  it('is private, belongs to the owner, and goes with close, whatever is in it', async () => {
    const { adapter } = await openSite()
    const temporary = (await adapter.createScratch()) as Local
    const root = temporary.hostPath(at('/'))
    const { mode, uid } = await lstat(root)
    expect(mode & 0o777).toBe(0o700)
    expect(uid).toBe(ordinaryOwner().uid)
    expect((await temporary.hostDirectory(at('/'))).owner).toEqual(ordinaryOwner())
    await temporary.write(at('/a/b/c'), bytes('x'), { parents: true })
    await chmod(join(root, 'a/b'), 0)
    await chmod(join(root, 'a'), 0)
    await temporary.close()
    expect(existsSync(root)).toBe(false)
    await temporary.close()
  })

  it('without an owner it is that of an ordinary user, in which commands can run', async () => {
    const temporary = (await createScratchAdapter()) as Local
    onTestFinished(() => temporary.close())
    const own = { uid: process.getuid?.(), gid: process.getgid?.() }
    expect((await temporary.hostDirectory(at('/'))).owner).toEqual(isRoot ? { uid: 1000, gid: 1000 } : own)
    await temporary.write(at('/a'), bytes('x'))
    // what a workspace of root itself has beside it stays with root
    const ofRoot = (await createLocalAdapter({ root: await mkdtemp(join(tmpdir(), 'ws-own-')) })) as Local
    const scratch = (await ofRoot.createScratch?.()) as Local
    expect((await stat(scratch.hostPath(at('/')))).uid).toBe(process.getuid?.())
    await scratch.close()
    await rmdir(ofRoot.hostPath(at('/')))
    await ofRoot.close()
  })

  it('two of them are two directories', async () => {
    const one = (await createScratchAdapter({ owner: ordinaryOwner() })) as Local
    const two = (await createScratchAdapter({ owner: ordinaryOwner() })) as Local
    onTestFinished(async () => {
      await one.close()
      await two.close()
    })
    expect(one.hostPath(at('/'))).not.toBe(two.hostPath(at('/')))
  })
})

/** Works under any user; prints what it saw. Packages are reached by their sources. */
const script = `
const { createLocalAdapter, createScratchAdapter } = await import(process.argv[1])
const root = process.argv[2]
const enc = new TextEncoder()
const adapter = await createLocalAdapter({ root })
const seen = {}
const failure = (promise) => promise.then(() => 'fine', (error) => error.code)
await adapter.write('/a/f', enc.encode('needle'), { parents: true, mode: 0o640 })
const { version } = await adapter.write('/a/f', enc.encode('needle 2'))
seen.conflict = await failure(adapter.write('/a/f', enc.encode('x'), { ifVersion: 'absent' }))
await adapter.write('/a/f', enc.encode('needle 3'), { ifVersion: version })
await adapter.move('/a/f', '/a/g')
await adapter.copy('/a', '/b', { recursive: true })
await adapter.createSymlink('/l', 'a')
seen.hits = []
for await (const hit of adapter.search({ pattern: 'needle', in: '/' })) seen.hits.push(hit.path)
seen.hits.sort()
seen.closed = await failure(adapter.read('/closed'))
seen.owner = (await adapter.hostDirectory('/')).owner
seen.other = await failure(createLocalAdapter({ root, owner: { uid: 7, gid: 7 } }))
await adapter.delete('/b', { recursive: true })
const scratch = await createScratchAdapter()
const { chmodSync, existsSync } = await import('node:fs')
await scratch.createDirectory('/x/y', { recursive: true })
const host = scratch.hostPath('/')
chmodSync(host + '/x', 0)
await scratch.close()
seen.scratchLeft = existsSync(host)
await adapter.close()
console.log(JSON.stringify(seen))
`

describe('as an ordinary user', () => {
  itWith(component('shared-clone'), 'everything works with the own rights, and nothing beyond them', async () => {
    const { path } = await scratch()
    await writeFile(join(path, 'closed'), 'x', { mode: 0o000 })
    const owner = ordinaryOwner()
    if (isRoot) await chown(join(path, 'closed'), 0, 0)
    const child = spawn(
      process.execPath,
      [
        '--conditions=@ws/source',
        '--input-type=module',
        '-e',
        script,
        join(import.meta.dirname, '../src/index.ts'),
        path,
      ],
      { cwd: join(import.meta.dirname, '..'), stdio: ['ignore', 'pipe', 'pipe'], env: {}, ...(isRoot ? owner : {}) },
    )
    let output = ''
    let errors = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(JSON.parse(output)).toEqual({
      conflict: 'ECONFLICT',
      hits: ['/a/g', '/b/g'],
      closed: 'EACCES',
      owner,
      other: 'EINVAL',
      scratchLeft: false,
    })
    expect((await lstat(join(path, 'a/g'))).mode & 0o777).toBe(0o640)
  })
})
