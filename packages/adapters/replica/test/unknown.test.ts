import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { WorkspaceError } from '@ws/core'
import type { StorageAdapter } from '@ws/core/adapter'
import { component, itWith } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { at, failureOf, filesOf, type Machine, machineOf, openMachine, ownDirectory, put } from './support/site.ts'

const ufffd = '\uFFFD'

/** A path with a byte that is not UTF-8 at its end. */
const bytes = (path: string): Buffer => Buffer.concat([Buffer.from(path), Buffer.of(0xff)])

/** As commands do. */
async function command({ replica }: Machine, work: () => void): Promise<void> {
  const end = await replica.beginCommand?.()
  work()
  await end?.()
}

/** Mounts a file system, or another directory, for the rest of the test. */
function mount(...words: string[]): () => void {
  const place = words.at(-1) ?? ''
  const { status, stderr } = spawnSync('mount', words)
  if (status !== 0) throw new Error(String(stderr))
  const end = (): void => void spawnSync('umount', ['-l', place])
  onTestFinished(end)
  return end
}

/** Another program takes a lease on a file, which makes each blocking open of it wait. */
async function lease(path: string): Promise<() => Promise<void>> {
  const script =
    '$SIG{IO} = "IGNORE"; open(F, "+<", $ARGV[0]) or die; fcntl(F, 1024, 1) or die; $| = 1; print 1; sleep 600'
  const holder = spawn('perl', ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const end = async (): Promise<void> => {
    if (holder.exitCode !== null || !holder.kill('SIGKILL')) return
    await once(holder, 'exit')
  }
  onTestFinished(end)
  await once(holder.stdout, 'data')
  return end
}

describe('entries that cannot be looked at are unknown, and never gone', () => {
  it('[HO5] [RE3] names with U+FFFD are names as others: nothing of them is deleted', async () => {
    const files = {
      [`/r${ufffd}sum${ufffd}.pdf`]: 'one',
      [`/d${ufffd}/e/f`]: 'two',
      '/plain': 'three',
      '/l': `-> ${ufffd}`,
      [`/d${ufffd}`]: 'directory',
      [`/d${ufffd}/e`]: 'directory',
    }
    const store = createMemoryAdapter()
    await store.createSymlink?.(at('/l'), ufffd)
    for (const [path, text] of Object.entries(files))
      if (/^\w+$/u.test(text) && text !== 'directory') await put(store, path, text)
    const machine = await machineOf(store)
    await command(machine, () => undefined)
    expect(await filesOf(store)).toEqual(files)
    await command(machine, () => writeFileSync(`${machine.root}/d${ufffd}/e/f`, 'edited'))
    expect(await filesOf(store)).toEqual({ ...files, [`/d${ufffd}/e/f`]: 'edited' })
    expect(machine.replica.status().leftOut).toEqual([])
    await command(machine, () => rmSync(`${machine.root}/d${ufffd}`, { recursive: true }))
    expect(Object.keys(await filesOf(store))).not.toContain(`/d${ufffd}`)
  })

  it('[HO5] [RE3] what is moved to a name that is not UTF-8, or below one, stays in the store until it has another', async () => {
    const store = createMemoryAdapter({ files: { '/f': 'f', '/d/g': 'g', '/h': 'h', '/gone': 'gone' } })
    const machine = await machineOf(store)
    const { root, replica } = machine
    await command(machine, () => {
      renameSync(`${root}/f`, bytes(`${root}/f`))
      renameSync(`${root}/d`, bytes(`${root}/d`))
      renameSync(`${root}/h`, Buffer.concat([bytes(`${root}/d`), Buffer.from('/h')]))
      rmSync(`${root}/gone`)
      // beside a name that reads the same, and is valid
      writeFileSync(`${root}/f${ufffd}`, 'valid')
    })
    expect(await filesOf(store)).toEqual({
      '/f': 'f',
      '/d': 'directory',
      '/d/g': 'g',
      '/h': 'h',
      [`/f${ufffd}`]: 'valid',
    })
    const left = replica.status().leftOut.map(({ path, reason }) => `${path}: ${reason}`)
    expect(left.sort()).toEqual([
      '/d: it was moved to where it cannot be saved',
      `/d${ufffd}: its name is not valid UTF-8`,
      '/f: it was moved to where it cannot be saved',
      `/f${ufffd}: its name is not valid UTF-8`,
      '/h: it was moved to where it cannot be saved',
    ])
    await command(machine, () => {
      renameSync(bytes(`${root}/f`), `${root}/f2`)
      renameSync(bytes(`${root}/d`), `${root}/d2`)
    })
    const files = { '/f2': 'f', '/d2': 'directory', '/d2/g': 'g', '/d2/h': 'h', [`/f${ufffd}`]: 'valid' }
    expect(await filesOf(store)).toEqual(files)
    await command(machine, () => rmSync(`${root}/f2`))
    expect(Object.keys(await filesOf(store))).not.toContain('/f2')
  })

  it('[HO5] [RE2] the old name of a file goes when the store has the new one, and not before', async () => {
    const store = createMemoryAdapter({ files: { '/f': 'f', '/d/g': 'g', '/gone': 'gone' } })
    const { write, copy } = store
    store.write = (path, ...rest) => {
      if (!path.includes('new')) return write.call(store, path, ...rest)
      throw new WorkspaceError({
        code: 'EINVAL',
        operation: 'write',
        path,
        reason: 'has a name that the store refuses',
      })
    }
    // a copy in the store is refused as well: the write shows why
    store.copy = () =>
      Promise.reject(new WorkspaceError({ code: 'ECONFLICT', operation: 'copy', reason: 'is another' }))
    const machine = await machineOf(store, { persist: 'flush' })
    renameSync(`${machine.root}/f`, `${machine.root}/new`)
    renameSync(`${machine.root}/d`, `${machine.root}/d-new`)
    rmSync(`${machine.root}/gone`)
    await failureOf(machine.replica.flush() as Promise<void>)
    expect(await filesOf(store)).toMatchObject({ '/f': 'f', '/d/g': 'g' })
    expect(Object.keys(await filesOf(store))).not.toContain('/gone')
    Object.assign(store, { write, copy })
    await machine.replica.flush()
    expect(await filesOf(store)).toEqual({ '/new': 'f', '/d-new': 'directory', '/d-new/g': 'g' })
  })

  it('[HO5] [RE2] what is moved out of the way of another entry is in the store before the old one goes', async () => {
    const store = createMemoryAdapter({ files: { '/d/h': 'h', '/f': 'f' } })
    const { root, replica } = await machineOf(store, { persist: 'flush' })
    const { delete: remove } = store
    const seen: Record<string, string>[] = []
    store.delete = async (path, options) => {
      seen.push(await filesOf(store))
      await remove.call(store, path, options)
    }
    // a directory becomes a file, and a file a directory
    renameSync(`${root}/d`, `${root}/d2`)
    writeFileSync(`${root}/d`, 'new')
    renameSync(`${root}/f`, `${root}/f2`)
    mkdirSync(`${root}/f`)
    writeFileSync(`${root}/f/below`, 'below')
    await replica.flush()
    for (const files of seen) expect(files).toMatchObject({ '/d2/h': 'h', '/f2': 'f' })
    expect(seen.length).toBeGreaterThan(0)
    const all = { '/d': 'new', '/d2': 'directory', '/d2/h': 'h', '/f': 'directory', '/f/below': 'below', '/f2': 'f' }
    expect(await filesOf(store)).toEqual(all)
  })

  it('[HO5] [RE4] a copy whose directory is another at the next start comes from the store again', async () => {
    const directory = `${await ownDirectory()}/r`
    const files = { '/a': 'a', '/d': 'directory', '/d/b': 'b' }
    const store = Object.assign(createMemoryAdapter({ files: { '/a': 'a', '/d/b': 'b' } }), { identity: 'one' })
    const first = await machineOf(store, { directory })
    await first.replica.close()
    // its disk is not mounted, for one
    renameSync(first.root, `${directory}-old`)
    mkdirSync(first.root)
    const { replica } = await machineOf(store, { directory })
    expect(await filesOf(store)).toEqual(files)
    expect(await filesOf(replica)).toEqual(files)
    expect(replica.status()).toMatchObject({ dirty: [], conflicts: [] })
  })

  itWith(component('tmpfs'), '[HO5] [RE3] what the host mounts over is neither deleted nor written to', async () => {
    const files = { '/d/f': 'f', '/d/e/g': 'g', '/b/f': 'f', '/one': 'one', '/keep': 'keep' }
    const store = createMemoryAdapter({ files })
    const machine = await machineOf(store)
    const { root, replica } = machine
    const other = await ownDirectory()
    writeFileSync(`${other}/f`, 'other')
    const ends = [
      mount('-t', 'tmpfs', '-o', 'size=64k', 'unknown', `${root}/d`),
      // a part of the same file system
      mount('--bind', other, `${root}/b`),
      mount('--bind', `${other}/f`, `${root}/one`),
    ]
    await command(machine, () => writeFileSync(`${root}/keep`, 'edited'))
    const all = { ...files, '/keep': 'edited', '/d': 'directory', '/d/e': 'directory', '/b': 'directory' }
    expect(await filesOf(store)).toEqual(all)
    expect(
      replica
        .status()
        .leftOut.map(({ path }) => path)
        .sort(),
    ).toEqual(['/b', '/d', '/one'])
    // nor does a call on a path below say that anything is gone, or saved
    expect(await failureOf(put(replica, '/d/f', 'hidden'))).toMatchObject({ code: 'ENOTSUP', path: '/d' })
    expect(await filesOf(store)).toEqual(all)
    // what other machines change there waits
    await put(store, '/d/f', 'theirs')
    await put(store, '/b/new', 'theirs')
    await command(machine, () => undefined)
    expect(existsSync(`${other}/new`)).toBe(false)
    for (const end of ends) end()
    await command(machine, () => undefined)
    await command(machine, () => undefined)
    expect(await filesOf(store)).toEqual({ ...all, '/d/f': 'theirs', '/b/new': 'theirs' })
    expect(await filesOf(replica)).toEqual(await filesOf(store))
    expect(replica.status()).toMatchObject({ leftOut: [], dirty: [] })
  })

  it('[HO5] [RE3] a directory that may not be listed, a link that leads nowhere as text, and a lease', async () => {
    const store = createMemoryAdapter({ files: { '/d/f': 'f', '/l': 'l', '/leased': 'old', '/into': 'into' } })
    const machine = await machineOf(store)
    const { root, replica } = machine
    writeFileSync(`${root}/new`, 'new')
    const end = await lease(`${root}/new`)
    await command(machine, () => {
      if (process.getuid?.() !== 0) {
        // what was moved there is not gone either
        renameSync(`${root}/into`, `${root}/d/into`)
        chmodSync(`${root}/d`, 0)
      }
      rmSync(`${root}/l`)
      symlinkSync(Buffer.of(0xff), `${root}/l`)
      renameSync(`${root}/leased`, `${root}/moved`)
    })
    expect(await filesOf(store)).toMatchObject({ '/d/f': 'f', '/l': 'l', '/moved': 'old', '/into': 'into' })
    expect(await filesOf(store)).not.toHaveProperty('/new')
    expect(replica.status().leftOut.map(({ path }) => path)).toEqual(expect.arrayContaining(['/l', '/new']))
    await end()
    await command(machine, () => chmodSync(`${root}/d`, 0o755))
    expect(await filesOf(store)).toMatchObject({ '/d/f': 'f', '/new': 'new' })
  })

  const trees = [
    { levels: 60, name: 'd'.repeat(100), tags: [] },
    { levels: 1_300, name: 'ddd', tags: ['deep'] },
  ]
  for (const { levels, name, tags } of trees) {
    it(`[HO6] [RE2] a tree of ${levels} levels is left out by name where its path is too long, and goes when it is removed`, {
      tags,
    }, async () => {
      const store = createMemoryAdapter({ files: { '/f': 'f' } })
      const machine = await machineOf(store)
      const script = `chdir $ARGV[0]; for (1 .. ${levels}) { mkdir "${name}"; chdir "${name}" }`
      const remove = (): void => void spawnSync('rm', ['-rf', `${machine.root}/deep`])
      onTestFinished(remove)
      await command(machine, () => {
        mkdirSync(`${machine.root}/deep`)
        spawnSync('perl', ['-e', script, `${machine.root}/deep`])
        writeFileSync(`${machine.root}/f`, 'edited')
      })
      expect(await filesOf(store)).toMatchObject({ '/f': 'edited', [`/deep/${name}/${name}`]: 'directory' })
      expect(machine.replica.status().leftOut).toEqual([
        { path: expect.stringContaining(`/deep/${name}/`) as string, reason: 'its path is too long', holdsBytes: true },
      ])
      await command(machine, remove)
      expect(await filesOf(store)).toEqual({ '/f': 'edited' })
      expect(machine.replica.status().leftOut).toEqual([])
    })
  }
})

describe('one entry stops nothing', () => {
  it('[RE5] an object whose name this machine keeps for itself is left out by name', async () => {
    const store = createMemoryAdapter()
    await put(store, '/a', 'a')
    await put(store, '/.ws-tmp-1', 'theirs')
    await put(store, '/d/.ws-tmp-2/x', 'theirs')
    const machine = await machineOf(store)
    await command(machine, () => writeFileSync(`${machine.root}/b`, 'b'))
    expect(await filesOf(store)).toMatchObject({ '/b': 'b', '/.ws-tmp-1': 'theirs', '/d/.ws-tmp-2/x': 'theirs' })
    expect(machine.replica.status().leftOut.map(({ path }) => path)).toContain('/.ws-tmp-1')
    await machine.replica.flush()
  })

  it('[RE3] a file with the bytes of a deletion mark stays here, and says so', async () => {
    const store = createMemoryAdapter({ files: { '/f': 'f' } })
    const machine = await machineOf(store)
    const mark = '\0@ws/adapter-replica is deleting this file: abcdefghijkl\n'
    await command(machine, () => writeFileSync(`${machine.root}/f`, mark))
    expect(await filesOf(store)).toEqual({ '/f': 'f' })
    const left = { path: '/f', reason: 'its bytes are those that mark a deletion', holdsBytes: true }
    expect(machine.replica.status().leftOut).toEqual([left])
    await command(machine, () => undefined)
    expect(machine.events).toEqual([{ event: 'left-out', ...left }])
    await command(machine, () => writeFileSync(`${machine.root}/f`, 'other'))
    expect(await filesOf(store)).toEqual({ '/f': 'other' })
    expect(machine.replica.status().leftOut).toEqual([])
  })

  it.each([
    ['maxBytes', { maxBytes: 20 }],
    ['maxFiles', { maxFiles: 2 }],
    ['maxFileBytes', { maxFileBytes: 10 }],
  ])('[RE5] a copy at `%s` can be emptied by a command while the store has more', async (_limit, limits) => {
    const store = createMemoryAdapter({ files: { '/a': 'a'.repeat(9), '/b': 'b'.repeat(9) } })
    const machine = await machineOf(store, limits)
    await put(store, '/c', 'c'.repeat(11))
    await put(store, '/e', 'c')
    await command(machine, () => rmSync(`${machine.root}/a`))
    expect(machine.replica.status().leftOut.map(({ path }) => path)).toContain('/c')
    expect(Object.keys(await filesOf(store)).sort()).toEqual(['/b', '/c', '/e'])
  })

  itWith(
    component('tmpfs'),
    '[RE5] a first copy that the disk has no room for: the rest comes, and commands go on',
    async () => {
      const directory = await ownDirectory()
      mount('-t', 'tmpfs', '-o', 'size=2m,mode=755', 'full', directory)
      const files = { '/big': 'b'.repeat(3_000_000), '/small': 's' }
      const store = createMemoryAdapter({ files })
      const machine = await openMachine(store, { directory: `${directory}/r` })
      await command(machine, () => writeFileSync(`${machine.root}/new`, 'new'))
      expect(await filesOf(machine.replica)).toEqual({ '/small': 's', '/new': 'new' })
      expect(machine.replica.status().leftOut).toMatchObject([
        { path: '/big', reason: 'the disk of this machine is full' },
      ])
      expect(await filesOf(store)).toEqual({ ...files, '/new': 'new' })
    },
  )

  itWith(component('tmpfs'), '[RE5] a full disk can be emptied by a command while the store has more', async () => {
    const directory = await ownDirectory()
    mount('-t', 'tmpfs', '-o', 'size=2m,mode=755', 'full', directory)
    const store: StorageAdapter = createMemoryAdapter({ files: { '/big': 'b'.repeat(1_200_000) } })
    const machine = await openMachine(store, { directory: `${directory}/r` })
    await machine.replica.refresh?.()
    await put(store, '/more', 'm'.repeat(900_000))
    await command(machine, () => rmSync(`${machine.root}/big`))
    expect(Object.keys(await filesOf(store))).toEqual(['/more'])
    await command(machine, () => undefined)
    expect(await filesOf(machine.replica)).toEqual(await filesOf(store))
    expect(machine.replica.status().leftOut).toEqual([])
  })
})
