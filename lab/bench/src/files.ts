import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { ordinaryOwner } from '@ws/test-fixtures'

import { adapterFiles, type FileWay, plainFiles, workspaceFiles } from './file-ways.ts'
import { compare, type Comparison, median, repeat, type Report } from './measure.ts'
import { makeDirectory, makeFile, makeTree, openSite } from './site.ts'

interface Case extends Omit<Comparison, 'reference' | 'ways'> {
  /** `fresh` is a directory for one way in one round, in which the case writes. */
  readonly work: (files: FileWay, index: number, fresh: string) => Promise<unknown>
}

const content = new Uint8Array(4_096).fill(120)
const small = 'deeper/still/small.txt'
const large = 'deeper/still/large.txt'
const readingCases: readonly Case[] = [
  { name: 'read 4 KiB', target: 0.15, count: 400, work: (files) => files.read(small) },
  { name: 'read 1 MiB', count: 20, work: (files) => files.read(large) },
  { name: 'stat', target: 0.4, count: 600, work: (files) => files.stat(small) },
  { name: 'list 2,000 with types', target: 1, count: 4, work: (files) => files.list('many') },
  {
    name: 'list 2,000 with size and time; plain: all `stat` at once',
    target: 0.55,
    count: 2,
    work: (files) => files.listAtOnce('many'),
  },
  {
    name: 'list 2,000 with size and time; plain: one `stat` after the other',
    target: 0.55,
    count: 1,
    maxRounds: 9,
    work: (files) => files.listInTurn('many'),
  },
  { name: 'list 5,000 recursively', target: 0.6, count: 1, work: (files) => files.listTree('tree') },
]

const writingCases: readonly Case[] = [
  {
    name: 'exclusive create, empty',
    target: 0.4,
    count: 100,
    work: (files, index, fresh) => files.create(`${fresh}/file-${index}`, new Uint8Array(0)),
  },
  {
    name: 'exclusive create, 4 KiB (plain: not atomic)',
    count: 100,
    work: (files, index, fresh) => files.create(`${fresh}/file-${index}`, content),
  },
  {
    name: 'write 4 KiB (plain: not atomic)',
    target: 1,
    count: 20,
    work: (files, _, fresh) => files.write(`${fresh}/file`, content),
  },
]

/** Reading, listing and writing, compared with `fs.promises`. Only writes that replace a file delete entries: see {@link settle}. */
export async function measureFiles(report: Report): Promise<void> {
  await using site = await openSite()
  const { directory, workspace } = site
  await using adapter = await createLocalAdapter({ root: directory, owner: ordinaryOwner() })
  plant(directory)
  const plain = plainFiles('fs.promises', directory)
  const ways = [workspaceFiles(workspace), adapterFiles(adapter)]
  const measure = async ({ work, ...comparison }: Case, before?: () => string): Promise<void> => {
    const way = (files: FileWay) => {
      let fresh = ''
      return {
        name: files.name,
        run: repeat((index) => work(files, index, fresh)),
        before: before && (async () => (fresh = before())),
      }
    }
    report(await compare('files', { ...comparison, reference: way(plain), ways: ways.map(way) }))
  }
  for (const reading of readingCases) await measure(reading)
  let made = 0
  for (const writing of writingCases) {
    await settle(directory)
    // each directory is used once: deletions between rounds would slow down creations in the next round
    await measure({ ...writing, maxRounds: 12 }, () => {
      const fresh = `fresh-${(made += 1)}`
      makeDirectory(join(directory, fresh))
      return fresh
    })
  }
}

function plant(directory: string): void {
  makeDirectory(join(directory, 'deeper/still'))
  makeFile(join(directory, small), content)
  makeFile(join(directory, large), new Uint8Array(1024 * 1024).fill(120))
  makeDirectory(join(directory, 'many'))
  for (let index = 0; index < 2_000; index += 1) makeFile(join(directory, `many/entry-${index}.txt`), '')
  makeTree(join(directory, 'tree'), [50, 99])
}

/** Waits until ext4 has forgotten its deletions: for five seconds it skips freed inodes, and a creation takes a millisecond. */
async function settle(directory: string): Promise<void> {
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now()
    closeSync(openSync(join(directory, `probe-${start}`), 'wx')) // stays, so as not to be one more deletion
    return performance.now() - start
  })
  if (median(times) > 0.15) await delay(6_000)
}
