import { lstatSync, mkdirSync, readlinkSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it } from 'vitest'

import { getNativeCause } from '../src/errors.ts'
import { createPathManager, type PathManager } from '../src/policy/path-manager.ts'

let scratch: ScratchDirectory
let base: string
let manager: PathManager

beforeEach(async () => {
  scratch = await createScratchDirectory()
  base = scratch.path
  for (const directory of ['ws/src', 'ws/deep/er', 'out', 'outside'])
    mkdirSync(join(base, directory), { recursive: true })
  writeFileSync(join(base, 'outside/secret'), 'secret')
  writeFileSync(join(base, 'ws/src/a'), 'a')
  symlinkSync('src', join(base, 'ws/inside'))
  symlinkSync('../outside', join(base, 'ws/escape'))
  symlinkSync(join(base, 'outside/missing'), join(base, 'out/dangling'))
  symlinkSync('deep/er', join(base, 'ws/down'))
  symlinkSync('loop', join(base, 'ws/loop'))
  symlinkSync('ws', join(base, 'ws-by-link'))
  manager = createPathManager({ workspace: join(base, 'ws'), output: join(base, 'out'), realpath })
})

afterEach(() => scratch.remove())

it('[PM2] a path through a link is judged by where it leads', () => {
  expect(manager.isWithinWorkspace(join(base, 'ws/inside/a'))).toBe(true)
  expect(manager.isWithinWorkspace(join(base, 'ws-by-link/src/a'))).toBe(true)
  expect(manager.isWithinWorkspace(join(base, 'ws/escape/secret'))).toBe(false)
  expect(manager.isWithinWorkspace(join(base, 'ws/loop'))).toBe(false)
  expect(manager.isWithinOutput(join(base, 'out/dangling'))).toBe(false)
  expect(manager.isWithinWorkspace(join(base, 'ws/not/there/yet'))).toBe(true)
})

it('[PM2] `..` behind a link goes up from where the link leads', () => {
  // the kernel opens ws/deep/secret here, and outside/../secret there: neither is what the text says
  expect(manager.resolveRead('down/../x')).toBe(join(base, 'ws/deep/x'))
  expect(manager.isWithinWorkspace(`${base}/ws/escape/../ws/src`)).toBe(true)
  expect(manager.isWithinWorkspace(`${base}/ws/escape/../x`)).toBe(false)
  expect(() => manager.resolveRead('escape/../outside/secret')).toThrow(expect.objectContaining({ code: 'EACCES' }))
})

it('[PM4] resolving gives the real path, and refuses a link to outside without naming its target', () => {
  expect(manager.resolveRead('inside/a')).toBe(join(base, 'ws/src/a'))
  expect(manager.resolveWrite('new/file')).toBe(join(base, 'out/new/file'))
  const attempts = [() => manager.resolveRead('escape/secret'), () => manager.resolveWrite('dangling')]
  for (const attempt of attempts) {
    expect(attempt).toThrow(
      expect.objectContaining({
        code: 'EACCES',
        message: expect.stringMatching(/^(?!.*(outside\/|missing)).*leads outside/),
      }),
    )
  }
})

it('[PM4] a path that cannot be resolved is refused, and its native error is for operators only', () => {
  let thrown: unknown
  try {
    manager.resolveRead('loop')
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject({ code: 'EACCES', path: 'loop' })
  expect(JSON.stringify(thrown)).not.toContain(base)
  expect(getNativeCause(thrown)).toMatchObject({ code: 'ELOOP' })
})

it('[PM2] a root may itself be given by a link', () => {
  const linked = createPathManager({ workspace: join(base, 'ws-by-link'), output: join(base, 'out'), realpath })
  expect(linked.isWithinWorkspace(join(base, 'ws/src/a'))).toBe(true)
  expect(linked.resolveRead('inside/a')).toBe(join(base, 'ws/src/a'))
})

it('[PM2] a root that is exchanged for a link later does not move the border', () => {
  renameSync(join(base, 'out'), join(base, 'moved'))
  symlinkSync('outside', join(base, 'out'))
  expect(manager.isWithinOutput(join(base, 'out/secret'))).toBe(false)
  expect(() => manager.resolveWrite('secret')).toThrow(expect.objectContaining({ code: 'EACCES' }))
})

it('[PM5] an exception that leads out of the workspace is refused when it is configured', () => {
  const options = { workspace: join(base, 'ws'), output: join(base, 'out'), realpath }
  const exception = { name: 'cache', justification: 'the index is kept there' }
  expect(() => createPathManager({ ...options, exceptions: [{ ...exception, path: 'escape' }] })).toThrow(
    expect.objectContaining({ code: 'EINVAL' }),
  )
  const good = createPathManager({ ...options, exceptions: [{ ...exception, path: 'inside' }] })
  expect(good.resolveWrite('src/b', { exception: 'cache' })).toBe(join(base, 'ws/src/b'))
  expect(() => good.resolveWrite('inside/../deep/b', { exception: 'cache' })).toThrow(
    expect.objectContaining({ code: 'EACCES' }),
  )
})

it('[PM2] an injected realpath that answers nonsense refuses', () => {
  let nonsense: unknown
  const roots = { workspace: '/ws', output: '/out' }
  const fooled = createPathManager({
    ...roots,
    realpath: (path) => (nonsense === undefined ? path : (nonsense as string)),
  })
  for (nonsense of ['', '.', 'ws/a', null, 7]) {
    expect(fooled.isWithinWorkspace('/ws/a')).toBe(false)
    expect(() => fooled.resolveRead('a')).toThrow(expect.objectContaining({ code: 'EACCES' }))
  }
})

/** Resolves the existing part and keeps the rest; a link to nothing leads to its target. */
function realpath(path: string, links = 0): string {
  try {
    return realpathSync.native(path)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
  const parent = realpath(resolve(path, '..'), links)
  const own = join(parent, path.slice(path.lastIndexOf('/') + 1))
  const target = lstatSync(own, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(own) : undefined
  if (target === undefined) return own
  if (links >= 40) throw Object.assign(new Error('too many links'), { code: 'ELOOP' })
  return realpath(resolve(parent, target), links + 1)
}
