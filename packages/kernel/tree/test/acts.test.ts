import {
  chmodSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

import { createScratchDirectory } from '@ws/test-fixtures'
import { describe, expect, it, onTestFinished } from 'vitest'

import { type Facts, factsOf } from '../src/disk/facts.ts'
import { create, makeDirectory, removeFile, replace } from '../src/disk/restore/acts.ts'
import { mark } from '../src/disk/restore/marks.ts'
import { Unexpected } from '../src/disk/restore/place.ts'
import { nameTemporaries } from '../src/disk/temporary.ts'

nameTemporaries('.ws-tmp-test-')

async function fileOf(content: string) {
  const scratch = await createScratchDirectory()
  onTestFinished(() => scratch.remove())
  const file = join(scratch.path, 'file')
  writeFileSync(file, content)
  utimesSync(file, 1_000, 1_000)
  const parent = openSync(scratch.path, 'r')
  const facts = (): Facts => ({ ...factsOf(lstatSync(file), 'file', String(lstatSync(file).ino)), unsettled: false })
  return { file, directory: scratch.path, place: { parent, name: 'file' }, facts }
}

describe('a FIFO or a socket in the place of an entry', () => {
  it.each([
    ['a FIFO', (path: string) => spawnSync('mkfifo', [path])],
    [
      'a socket',
      (path: string) =>
        spawnSync('perl', [
          '-MIO::Socket::UNIX',
          '-e',
          'IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die',
          path,
        ]),
    ],
  ])('[UN3] gives way to what is restored: %s', async (_what, make) => {
    const { file, directory, place, facts } = await fileOf('first')
    const seen = facts()
    unlinkSync(file)
    make(file)
    expect(lstatSync(file).isFile()).toBe(false)
    create(place, seen, new TextEncoder().encode('first'))
    expect(readFileSync(file, 'utf8')).toBe('first')
    unlinkSync(file)
    make(file)
    makeDirectory(place, { ...seen, type: 'directory' })
    expect(lstatSync(file).isDirectory()).toBe(true)
    expect(readdirSync(directory)).toEqual(['file'])
  })
})

describe('an entry that is not as the scan saw it', () => {
  const changes: Readonly<Record<string, (file: string) => void>> = {
    'written to': (file) => writeFileSync(file, 'theirs'),
    'written to, with its old time set again': (file) => {
      writeFileSync(file, 'their')
      utimesSync(file, 1_000, 1_000)
    },
    'under another mode': (file) => chmodSync(file, 0o600),
  }

  it.each(Object.entries(changes))('[UN3] is neither replaced nor removed: %s', async (_how, change) => {
    const { file, directory, place, facts } = await fileOf('first')
    const seen = facts()
    change(file)
    const [content, ino] = [readFileSync(file, 'utf8'), statSync(file).ino]
    expect(() => replace(place, seen, seen, new TextEncoder().encode('mine'))).toThrow(Unexpected)
    expect(() => removeFile(place, seen)).toThrow(Unexpected)
    expect(() => create(place, seen, new TextEncoder().encode('mine'))).toThrow(Unexpected)
    expect([readFileSync(file, 'utf8'), statSync(file).ino]).toEqual([content, ino])
    expect(readdirSync(directory)).toEqual(['file'])
  })

  it('is replaced where it is as it was seen, with bits and time, and no setuid', async () => {
    const { file, directory, place, facts } = await fileOf('first')
    const seen = facts()
    replace(place, { ...seen, mode: 0o4711, mtime: 2_000_000 }, seen, new TextEncoder().encode('mine'))
    expect(readFileSync(file, 'utf8')).toBe('mine')
    expect([statSync(file).mode & 0o7777, statSync(file).mtimeMs]).toEqual([0o711, 2_000_000])
    expect(readdirSync(directory)).toEqual(['file'])
  })

  it('[UN3] gets a time before 1970 back, and a time that no Date holds as its disk holds it', async () => {
    const { file, place, facts } = await fileOf('first')
    for (const mtime of [-5_250, -1_000, 9e15]) {
      utimesSync(file, String(mtime / 1_000), String(mtime / 1_000))
      const held = facts().mtime
      utimesSync(file, 1_000, 1_000)
      const seen = facts()
      replace(place, { ...seen, mtime: held }, seen, new TextEncoder().encode('mine'))
      expect(statSync(file).mtimeMs).toBe(held)
      const next = facts()
      utimesSync(file, 1_000, 1_000)
      mark(place, { ...next, mtime: held }, next)
      expect(statSync(file).mtimeMs).toBe(held)
    }
  })
})

it('[UN3] a link to another target stays, though its inode and its time are those that were seen', async () => {
  const { file, place } = await fileOf('first')
  unlinkSync(file)
  symlinkSync('new', file)
  const status = lstatSync(file)
  const seen: Facts = { ...factsOf(status, 'symlink', String(status.ino)), target: 'old', unsettled: false }
  expect(() => removeFile(place, seen)).toThrow(Unexpected)
  removeFile(place, { ...seen, target: 'new' })
  expect(lstatSync(file, { throwIfNoEntry: false })).toBe(undefined)
})
