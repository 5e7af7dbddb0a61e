import {
  chmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
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
import { Database } from '../src/store/database.ts'
import { unifiedDiff } from '../src/worker/unified-diff.ts'
import { ownDirectory, shareEngine, siteOf } from './support/site.ts'

shareEngine()

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

it('[TL6] a diff shows names in one line', () => {
  const facts = { ...factsOf(statSync('.'), 'file', '1'), unsettled: false }
  const [name, later] = ['/a\nrename from /b', '/c\u202E\u001B[31m']
  const side = (shown: string, mode: number, bytes?: Uint8Array) => ({ name: shown, facts: { ...facts, mode }, bytes })
  const patch = unifiedDiff(side(name, 0o600, Buffer.from('a\n')), side(later, 0o644, Buffer.from('b\n')))
  const sizes = unifiedDiff(side(name, 0o600), side(name, 0o600))
  expect(`${patch}${sizes}`.split('\n').filter((line) => /^(?:rename|mode|Not|---|\+\+\+) ?/u.test(line))).toEqual([
    'rename from /a\\u{a}rename from /b',
    'rename to /c\\u{202e}\\u{1b}[31m',
    'mode of /c\\u{202e}\\u{1b}[31m: 0600 -> 0644',
    '--- "a/a\\nrename from /b"',
    '+++ "b/c\\342\\200\\256\\033[31m"',
    expect.stringMatching(/^Not compared as text: \/a\\u\{a\}rename from \/b: /u),
  ])
})

it('[UN6] a directory that a killed restore has opened up gets its bits back at the next start', async () => {
  const stateDirectory = join(await ownDirectory(), 'kept')
  const first = await siteOf({ stateDirectory })
  mkdirSync(join(first.root, 'shut'))
  await first.workspace.checkpoint()
  await first.workspace.close()
  const database = new Database(stateDirectory)
  database.run("INSERT INTO loosened SELECT id, '/shut', 365 FROM trees")
  database.close()
  chmodSync(join(first.root, 'shut'), 0o755)
  await siteOf({ root: first.root, stateDirectory })
  expect(statSync(join(first.root, 'shut')).mode & 0o777).toBe(0o555)
})
