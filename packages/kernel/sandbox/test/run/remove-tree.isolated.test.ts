import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { createScratchDirectory, type ScratchDirectory } from '@ws/test-fixtures'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

import { removeTree } from '../../src/run/remove-tree.ts'

/** Acts that come right before a directory of this name is opened. */
const before = vi.hoisted(() => new Map<string, () => void>())
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  const openSync: typeof fs.openSync = (path, flags, mode) => {
    const name = path.toString().split('/').at(-1) ?? ''
    const act = before.get(name)
    before.delete(name)
    act?.()
    return fs.openSync(path, flags, mode)
  }
  return { ...fs, openSync }
})

let scratch: ScratchDirectory
let tree: string
beforeEach(async () => {
  scratch = await createScratchDirectory({ prefix: 'ws-remove-' })
  tree = join(scratch.path, 'tree')
  mkdirSync(join(tree, 'sub/deep'), { recursive: true })
  mkdirSync(join(scratch.path, 'outside/deep'), { recursive: true })
  writeFileSync(join(scratch.path, 'outside/kept'), '')
})
afterEach(async () => await scratch.remove())

it('[HO1] removes everything, closed directories and links too, and nothing that a link leads to', () => {
  writeFileSync(join(tree, 'sub/deep/file'), '')
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([0xff, 0x2e])]), '')
  symlinkSync('../outside', join(tree, 'link'))
  chmodSync(join(tree, 'sub'), 0o000)
  removeTree(tree)
  expect(readdirSync(scratch.path)).toEqual(['outside'])
  expect(readdirSync(join(scratch.path, 'outside'))).toEqual(['deep', 'kept'])
  removeTree(tree)
})

it('[HO1] goes nowhere else when a directory is exchanged for a link while it is removed', () => {
  before.set('sub', () => {
    renameSync(join(tree, 'sub'), join(scratch.path, 'taken'))
    symlinkSync('../outside', join(tree, 'sub'))
  })
  removeTree(tree)
  expect(before.size).toBe(0)
  expect(existsSync(tree)).toBe(false)
  expect(readdirSync(join(scratch.path, 'outside'))).toEqual(['deep', 'kept'])
})

it.skipIf(!existsSync('/proc/self/fd'))('[HO6] holds few descriptors, whatever the depth', () => {
  const deepest = 150
  let path = tree
  for (let level = 0; level < deepest; level++) mkdirSync((path += '/d'))
  const open = () => readdirSync('/proc/self/fd').length
  const atStart = open()
  let atBottom = 0
  before.set('bottom', () => {
    atBottom = open()
  })
  mkdirSync(join(path, 'bottom'))
  mkdirSync(join(tree, 'd/'.repeat(20), 'e/'.repeat(60)), { recursive: true })
  removeTree(tree)
  expect(existsSync(tree)).toBe(false)
  expect(atBottom - atStart).toBeLessThan(50)
})

it.skipIf(!existsSync('/proc/self/fd'))('[HO6] goes nowhere else when what was emptied lies elsewhere by then', () => {
  let path = tree
  for (let level = 0; level < 60; level++) mkdirSync((path += '/d'))
  mkdirSync(join(path, 'bottom'))
  before.set('bottom', () => renameSync(join(tree, 'd/d'), join(scratch.path, 'outside/d')))
  expect(() => removeTree(tree)).toThrow(expect.objectContaining({ code: 'EBUSY' }))
  expect(readdirSync(join(scratch.path, 'outside'))).toEqual(['d', 'deep', 'kept'])
})
