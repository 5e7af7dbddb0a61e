import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { startLoneKeeper } from './support/lone-keeper.ts'

const asRoot = process.getuid?.() === 0

describeWith([component('perl')], 'reserved names that cannot be removed, with an ordinary user as host', () => {
  let scratch: ScratchDirectory
  let root: string
  let state: string
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-left-' })
    root = join(scratch.path, 'work')
    state = join(scratch.path, 'state')
    for (const path of [root, state]) {
      mkdirSync(path, { mode: 0o700 })
      give(path)
    }
  })
  afterEach(async () => await scratch.remove())

  const start = () => startLoneKeeper({ state, root, runAs: scratch.owner })
  const give = (path: string) => {
    if (asRoot) chownSync(path, scratch.owner.uid, scratch.owner.gid)
  }
  const notes = () => readdirSync(state).filter((name) => /\.\d+$/.test(name))
  const modeOf = (path: string) => lstatSync(path).mode & 0o7777

  it('[RU2] [HO1] are gone with the last command, though it took the rights from the directory, which keeps its mode', async () => {
    mkdirSync(join(root, 'repo'))
    give(join(root, 'repo'))
    const keeper = start()
    const paths = ['usr', 'etc', 'repo/.git/hooks']
    expect((await keeper.place(paths)).every((answer) => answer.startsWith('placed'))).toBe(true)
    chmodSync(join(root, 'repo'), 0o000)
    chmodSync(root, 0o555)
    await keeper.drop(paths.length)
    expect([modeOf(root), modeOf(join(root, 'repo'))]).toEqual([0o555, 0o000])
    chmodSync(join(root, 'repo'), 0o755)
    expect(readdirSync(root)).toEqual(['repo'])
    expect(readdirSync(join(root, 'repo'))).toEqual([])
    expect(notes()).toEqual([])
    await keeper.end()
  })

  it('[RU2] [HO1] keep their note while something keeps them, and the next keeper removes them', async () => {
    mkdirSync(join(root, 'above/dir'), { recursive: true })
    for (const path of ['above', 'above/dir']) give(join(root, path))
    const keeper = start()
    await keeper.place(['above/dir/.git/hooks'])
    process.kill(keeper.pid, 'SIGKILL')
    await keeper.end()
    // Only the directory itself is opened for a moment, not those above it.
    chmodSync(join(root, 'above'), 0o000)
    const early = start()
    expect(await early.sweep()).toBe('swept 0')
    await early.end()
    expect(notes().length).toBeGreaterThan(0)
    chmodSync(join(root, 'above'), 0o755)
    chmodSync(join(root, 'above/dir'), 0o555)
    const later = start()
    await later.sweep()
    await later.end()
    expect(existsSync(join(root, 'above/dir/.git'))).toBe(false)
    expect(modeOf(join(root, 'above/dir'))).toBe(0o555)
    expect(notes()).toEqual([])
  })

  it('[RU2] [HO1] keep the note of a temporary name while its directory cannot be listed', async () => {
    const place = join(root, 'repo')
    const temporary = join(place, '.ws-tmp-ended-1')
    for (const path of [place, temporary]) {
      mkdirSync(path)
      give(path)
    }
    writeFileSync(join(state, 'ended.1'), `temp ${Buffer.from(`${place}/.ws-tmp-ended-`).toString('hex')}\n`)
    chmodSync(place, 0o300)
    const early = start()
    await early.sweep()
    await early.end()
    expect(existsSync(temporary)).toBe(true)
    expect(notes()).toHaveLength(1)
    chmodSync(place, 0o755)
    const later = start()
    await later.sweep()
    await later.end()
    expect(existsSync(temporary)).toBe(false)
    expect(notes()).toEqual([])
  })

  it('[RU2] [HO1] stay while the note of another keeper cannot be read', async () => {
    const [one, other] = [start(), start()]
    await one.place(['.env'])
    const before = notes()
    await other.place(['.env'])
    const [note = ''] = notes().filter((name) => !before.includes(name))
    rmSync(join(state, note))
    mkdirSync(join(state, note))
    await one.drop(1)
    expect(readdirSync(root)).toEqual(['.env'])
    await Promise.all([one.end(), other.end()])
    expect(readdirSync(root)).toEqual([]) // the other keeper knows its own notes
  })

  // Only root can give a directory to another user.
  if (asRoot) {
    it('[RU2] [HO1] keep their note when the last command has ended, in a directory of somebody else', async () => {
      const keeper = start()
      await keeper.place(['usr', '.git/hooks'])
      chownSync(root, 0, 0)
      chmodSync(root, 0o755)
      await keeper.drop(2)
      await keeper.end()
      expect(readdirSync(root)).toEqual(['.git', 'usr'])
      give(root)
      const later = start()
      await later.sweep()
      await later.end()
      expect(readdirSync(root)).toEqual([])
      expect(notes()).toEqual([])
    })
  }

  it('[RU2] are left to their user, once something was made in them', async () => {
    const keeper = start()
    await keeper.place(['.git/hooks'])
    writeFileSync(join(root, '.git/HEAD'), 'ref')
    give(join(root, '.git/HEAD'))
    chmodSync(root, 0o555)
    await keeper.drop(1)
    await keeper.end()
    expect(readdirSync(join(root, '.git'))).toEqual(['HEAD'])
    expect(notes()).toEqual([])
  })
})
