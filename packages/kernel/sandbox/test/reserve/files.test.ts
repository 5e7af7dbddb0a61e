import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

import { component, createScratchDirectory, describeWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { startLoneKeeper } from './support/lone-keeper.ts'

describeWith([component('perl')], 'names that are reserved by a file', () => {
  let scratch: ScratchDirectory
  let root: string
  let state: string
  beforeEach(async () => {
    scratch = await createScratchDirectory({ prefix: 'ws-files-' })
    root = join(scratch.path, 'work')
    state = join(scratch.path, 'state')
    for (const path of [root, state]) mkdirSync(path)
  })
  afterEach(async () => await scratch.remove())

  const start = () => startLoneKeeper({ state, root, owner: scratch.owner })
  const place = (path: string) => join(root, path)
  const notes = () => readdirSync(state).filter((name) => /\.\d+$/.test(name))

  it('[RU2] hold their content, read-only and of the user that reserves, and are gone with the last command', async () => {
    const keeper = start()
    const answers = await keeper.place(['.git/commondir', 'config', 'commondir'], ['.\n', '', '.\n'])
    expect(answers.every((answer) => answer.startsWith('placed'))).toBe(true)
    for (const [path, content] of [
      ['.git/commondir', '.\n'],
      ['config', ''],
    ] as const) {
      const { mode, uid } = lstatSync(place(path))
      expect([mode, uid, readFileSync(place(path), 'utf8')]).toEqual([0o100444, process.getuid?.(), content])
    }
    const other = start()
    expect(await other.place(['config'], [''])).toEqual([expect.stringMatching('placed')])
    await keeper.drop(3)
    await keeper.end()
    expect(readdirSync(root)).toEqual(['config'])
    await other.drop(1)
    await other.end()
    expect(readdirSync(root)).toEqual([])
    expect(notes()).toEqual([])
  })

  it('[RU2] [HO1] are never in the place of something else, and nothing else goes in theirs', async () => {
    mkdirSync(place('directory'))
    symlinkSync('directory', place('link'))
    writeFileSync(place('file'), 'mine')
    const keeper = start()
    for (const path of ['directory', 'link', 'file', 'link/x'])
      expect([path, ...(await keeper.place([path], ['.\n']))]).toEqual([path, 'changed'])
    const names = ['a', 'b', 'c', 'd', 'e']
    await keeper.place(
      names,
      names.map(() => '.\n'),
    )
    for (const name of ['a', 'b', 'c']) rmSync(place(name))
    writeFileSync(place('a'), '.\n', { mode: 0o444 })
    mkdirSync(place('b'))
    symlinkSync('file', place('c'))
    renameSync(place('d'), place('moved'))
    await keeper.drop(names.length)
    await keeper.end()
    expect(readdirSync(root)).toEqual(['a', 'b', 'c', 'directory', 'file', 'link', 'moved'])
    expect(readFileSync(place('file'), 'utf8')).toBe('mine')
    expect(notes()).toEqual([])
  })

  it('[RU2] are swept where the keeper was killed, also in the middle of a removal', async () => {
    const killed = start()
    await killed.place(['one', 'two', 'three'], ['.\n', '', '.\n'])
    const [mark = ''] = notes()[0]?.split('.') ?? []
    process.kill(killed.pid, 'SIGKILL')
    await killed.end()
    const aside = `.ws-tmp-${mark}-7`
    renameSync(place('one'), place(aside))
    const intent = `temp ${Buffer.from(place(`.ws-tmp-${mark}-`)).toString('hex')}\n`
    writeFileSync(join(state, `${mark}.100`), intent)
    writeFileSync(place(`.ws-tmp-${mark}-8`), 'of somebody else')
    rmSync(place('three'))
    writeFileSync(place('three'), '.\n', { mode: 0o444 })
    const later = start()
    await later.sweep()
    await later.end()
    expect(existsSync(place(aside))).toBe(false)
    expect(readdirSync(root)).toEqual([`.ws-tmp-${mark}-8`, 'three'])
    expect(notes()).toEqual([])
  })
})
