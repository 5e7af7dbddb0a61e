import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { mkdir, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { isWorkspaceError, type VirtualPath } from '@ws/core'
import type { MountPath } from '@ws/core/adapter'
import type { HostPath } from '@ws/core/executor'
import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { reservedNames } from '../../src/reserve/journal.ts'
import { type NameKeeper, type Reservation, sweepReserved, useNameKeeper } from '../../src/reserve/reserve.ts'

/** Its files are closed: at most its exit status is left of it. */
const hasEnded = (pid: number): boolean =>
  !existsSync(`/proc/${pid}/stat`) || / [ZX] /u.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))

describeWith([component('perl')], 'reserved names', () => {
  let scratch: ScratchDirectory
  let root: string
  let keeper: NameKeeper
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-reserve-' })
    root = scratch.path
    vi.stubEnv('WS_STATE_DIRECTORY', join(root, 'state'))
    mkdirSync(join(root, 'state'), { mode: 0o700 })
    mkdirSync(join(root, 'work'))
    root = join(root, 'work')
    keeper = useNameKeeper()
  })
  afterEach(async () => {
    keeper.close()
    vi.unstubAllEnvs()
    await scratch.remove()
  })

  function wanted(path: string) {
    return { name: { root: root as HostPath, path: path as MountPath }, at: path as VirtualPath }
  }
  function reserve(...paths: string[]): Promise<Reservation> {
    return keeper.reserve(paths.map(wanted), scratch.owner)
  }
  const place = (path: string) => join(root, path)
  const isHeld = (path: string) => reservedNames.holds(lstatSync(place(path), { bigint: true }), place(path))
  const notes = () => readdirSync(join(scratch.path, 'state/reserved')).filter((name) => /\.\d+$/.test(name))

  it('[RU2] hold a name by an empty read-only directory, and leave nothing when the last user is gone', async () => {
    const first = await reserve('/.env')
    const second = await reserve('/.env')
    const status = lstatSync(place('.env'))
    expect({ directory: status.isDirectory(), mode: status.mode & 0o7777 }).toEqual({ directory: true, mode: 0o555 })
    if (process.getuid?.() === 0) expect(status.uid).toBe(scratch.owner.uid)
    expect(isHeld('.env')).toBe(true)
    expect(first.identities.get(place('.env') as HostPath)).toBe(`${status.dev}:${status.ino}`)
    await first.release()
    expect(existsSync(place('.env'))).toBe(true)
    await second.release()
    expect(readdirSync(root)).toEqual([])
    expect(notes()).toEqual([])
  })

  it('[RU2] make what is missing above the name, and remove it again unless somebody has made something in it', async () => {
    const one = await reserve('/.git/hooks', '/.git/info/deep/x')
    expect(isHeld('.git')).toBe(true)
    expect(isHeld('.git/hooks')).toBe(true)
    await one.release()
    expect(readdirSync(root)).toEqual([])
    const two = await reserve('/.git/hooks')
    writeFileSync(place('.git/HEAD'), 'ref')
    expect(isHeld('.git')).toBe(false)
    await two.release()
    expect(readdirSync(place('.git'))).toEqual(['HEAD'])
  })

  it('[RU2] never replace what is there, and never remove what somebody put there', async () => {
    mkdirSync(place('mine'))
    writeFileSync(place('.env'), '')
    for (const path of ['/mine', '/.env', '/.env/below']) {
      const error = await reserve(path).catch((thrown: unknown) => thrown)
      expect({ path, busy: isWorkspaceError(error, 'EBUSY') }).toEqual({ path, busy: true })
    }
    const held = await reserve('/a', '/b', '/c')
    rmdirSync(place('a'))
    mkdirSync(place('a'))
    rmdirSync(place('b'))
    writeFileSync(place('b'), '')
    await rename(place('c'), place('moved'))
    await held.release()
    expect(readdirSync(root).sort()).toEqual(['.env', 'a', 'b', 'mine', 'moved'])
  })

  it('[RU2] go through no link, whatever it leads to', async () => {
    await mkdir(join(scratch.path, 'outside'))
    await symlink('../outside', place('link'))
    const error = await reserve('/link/x').catch((thrown: unknown) => thrown)
    expect(isWorkspaceError(error, 'EBUSY')).toBe(true)
    expect(readdirSync(join(scratch.path, 'outside'))).toEqual([])
  })

  it('[RU2] are removed through the directory that held them, wherever that has been moved', async () => {
    mkdirSync(place('dir'))
    const held = await reserve('/dir/x')
    await rename(place('dir'), place('elsewhere'))
    await held.release()
    expect(readdirSync(place('elsewhere'))).toEqual([])
  })

  it('[RU2] are shared with other processes: each is removed by the last', async () => {
    const held = await reserve('/.git/hooks', '/.env')
    const other = await otherProcess(['/.git/hooks', '/.git/config'])
    await held.release()
    expect(readdirSync(root)).toEqual(['.git'])
    expect(readdirSync(place('.git')).sort()).toEqual(['config', 'hooks'])
    expect(isHeld('.git')).toBe(true)
    await other.end()
    expect(readdirSync(root)).toEqual([])
    expect(notes()).toEqual([])
  })

  it('[RU2] hold one that another rule of another process needs a directory for', async () => {
    const held = await reserve('/.git')
    const other = await otherProcess(['/.git/hooks'])
    expect(isHeld('.git')).toBe(true)
    await held.release()
    expect(readdirSync(place('.git'))).toEqual(['hooks'])
    await other.end()
    expect(readdirSync(root)).toEqual([])
  })

  it('[RU2] that are dropped between a look and the question are no entries; those of a user are', async () => {
    const { release } = await reserve('/.env', '/.git/hooks')
    const [leaf, parent] = ['.env', '.git'].map((name) => lstatSync(place(name), { bigint: true }))
    await release()
    // the parent is known by the reading of the journal that its drop brings about
    expect(parent && reservedNames.holds(parent, place('.git'))).toBe(true)
    expect(leaf && reservedNames.holds(leaf, place('.env'))).toBe(true)
    mkdirSync(place('.env'), { mode: 0o555 })
    expect(isHeld('.env')).toBe(false)
  })

  it('[RU2] are removed, though the number of their directory is noted for one of another process that has gone', async () => {
    const other = await otherProcess(['/other'])
    const held = await reserve('/.env')
    const { dev, ino } = lstatSync(place('.env'), { bigint: true })
    const [mark = ''] = other.notes[0]?.split('.') ?? []
    const gone = `leaf ${Buffer.from(place('gone')).toString('hex')} ${dev} ${ino} 1\n`
    writeFileSync(join(scratch.path, `state/reserved/${mark}.1000`), gone)
    expect(isHeld('.env')).toBe(true)
    await held.release()
    expect(readdirSync(root)).toEqual(['other'])
    await other.end()
  })

  it('[RU2] are gone a moment after their process was killed', async () => {
    const other = await otherProcess(['/.git/hooks', '/.env'])
    const emptied = other.emptied()
    other.child.kill('SIGKILL')
    await emptied
    expect(readdirSync(root)).toEqual([])
    expect(notes()).toEqual([])
  })

  it('[RU2] are swept at the next start where the keeper was killed too; nothing else is touched', async () => {
    const other = await otherProcess(['/.git/hooks', '/.env', '/a', '/b'])
    process.kill(other.keeper, 'SIGKILL')
    other.child.kill('SIGKILL')
    await once(other.child, 'exit')
    // until it has ended, its names are not swept
    await vi.waitFor(() => expect(hasEnded(other.keeper)).toBe(true), { timeout: 10_000 })
    expect(readdirSync(root).sort()).toEqual(['.env', '.git', 'a', 'b'])
    expect(isHeld('.env')).toBe(true)
    // Two of them become a user's own entries.
    rmdirSync(place('a'))
    mkdirSync(place('a'))
    rmdirSync(place('b'))
    writeFileSync(place('b'), '')
    // A file that a keeper was writing when it was killed.
    writeFileSync(join(scratch.path, 'state/reserved/new.1-killed'), '')
    // And the directories that it was making, before they had their name.
    mkdirSync(place('.ws-tmp-1-killed-7/hooks'), { recursive: true })
    const unfinished = `temp ${Buffer.from(place('.ws-tmp-1-killed-7')).toString('hex')}\n`
    writeFileSync(join(scratch.path, 'state/reserved/1-killed.7'), unfinished)
    const { dev, ino } = lstatSync(place('.ws-tmp-1-killed-7'))
    const making = `parent ${Buffer.from(place('.git')).toString('hex')} ${dev} ${ino} 1\n`
    writeFileSync(join(scratch.path, 'state/reserved/1-killed.8'), making)
    await sweepReserved()
    expect(readdirSync(join(scratch.path, 'state/reserved')).filter((name) => name.startsWith('new.'))).toEqual([])
    expect(readdirSync(root).sort()).toEqual(['a', 'b'])
    expect(notes()).toEqual([])
  })

  it('[RU2] are not reserved by two at the same time in different ways: 200 rounds of eight at once', async () => {
    for (let round = 0; round < 25; round++) {
      await Promise.all(
        Array.from({ length: 8 }, async (_, index) => {
          const held = await reserve('/.git/hooks', index % 2 === 0 ? '/.env' : '/.git/config')
          expect(isHeld('.git/hooks')).toBe(true)
          await held.release()
        }),
      )
      expect(readdirSync(root)).toEqual([])
    }
  })

  async function otherProcess(paths: readonly string[]) {
    const holder = fileURLToPath(new URL('support/holder.ts', import.meta.url))
    const child = spawn(
      process.execPath,
      ['--conditions=@ws/source', holder, root, JSON.stringify(scratch.owner), ...paths],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    )
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    expect(line.toString()).toMatch(/^held /)
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim().split(' ')
    return {
      child,
      notes: notes(),
      keeper: Number(children.at(-1)),
      async end() {
        child.stdin.end()
        await once(child, 'exit')
      },
      async emptied() {
        const { promise, resolve } = Promise.withResolvers<void>()
        const look = setInterval(() => {
          if (notes().length === 0) {
            clearInterval(look)
            resolve()
          }
        }, 5)
        await promise
      },
    }
  }
})
