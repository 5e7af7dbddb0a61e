import { join } from 'node:path'

import { openNodeInTurn } from '../contenders/node.ts'
import { type Measurement, repeat } from '../measure.ts'
import { settle } from '../settle.ts'
import { makeDirectory, makeFile, makeTree } from '../site.ts'
import type { Case } from './case.ts'
import { freshDirectories } from './fresh-directories.ts'
import { measureCases } from './measure-cases.ts'

const small = new Uint8Array(4_096).fill(120)
const large = new Uint8Array(1024 * 1024).fill(120)

/** Reading, listing and writing. Nothing is deleted but what a write replaces: see {@link settle}. */
export async function measureFiles(report: (measurement: Measurement) => void): Promise<void> {
  await measureCases({
    section: 'files',
    report,
    casesIn(directory) {
      plant(directory)
      return [...readingCases(directory), ...writingCases(directory)]
    },
  })
}

function plant(directory: string): void {
  makeDirectory(join(directory, 'dir/deeper/still'))
  makeFile(join(directory, 'dir/deeper/still/small.txt'), small)
  makeFile(join(directory, 'dir/deeper/still/large.txt'), large)
  makeDirectory(join(directory, 'many'))
  for (let index = 0; index < 2_000; index += 1) makeFile(join(directory, `many/entry-${index}.txt`), '')
  makeTree(join(directory, 'tree'))
  makeDirectory(join(directory, 'written'))
}

function readingCases(directory: string): Case[] {
  return [
    {
      name: 'read 4 KiB',
      operation: 'read',
      target: 0.15,
      count: 400,
      work: ({ read }) => repeat(() => read('dir/deeper/still/small.txt')),
    },
    {
      name: 'read 1 MiB',
      operation: 'read',
      count: 20,
      work: ({ read }) => repeat(() => read('dir/deeper/still/large.txt')),
    },
    {
      name: 'stat',
      operation: 'stat',
      target: 0.4,
      count: 600,
      work: ({ stat }) => repeat(() => stat('dir/deeper/still/small.txt')),
    },
    {
      name: 'list 2,000 with types',
      operation: 'list',
      target: 1,
      count: 4,
      work: ({ list }) => repeat(() => list('many')),
    },
    {
      name: 'list 2,000 with size and time; plain: all `stat` at once',
      operation: 'listWithDetails',
      target: 0.55,
      count: 2,
      work: ({ listWithDetails }) => repeat(() => listWithDetails('many')),
    },
    {
      name: 'list 2,000 with size and time; plain: one `stat` after the other',
      operation: 'listWithDetails',
      target: 0.55,
      count: 1,
      maxRounds: 9,
      reference: openNodeInTurn(directory),
      work: ({ listWithDetails }) => repeat(() => listWithDetails('many')),
    },
    {
      name: 'list 5,000 recursively',
      operation: 'listTree',
      target: 0.6,
      count: 1,
      work: ({ listTree }) => repeat(() => listTree('tree')),
    },
  ]
}

/** Rounds of a case that creates files, when the file system is calm. */
const creatingRounds = 12

function writingCases(directory: string): Case[] {
  const empty = freshDirectories(directory, 'empty')
  const filled = freshDirectories(directory, 'filled')
  const calm = async (): Promise<number> => {
    await settle(directory)
    return creatingRounds
  }
  return [
    {
      name: 'exclusive create, empty',
      operation: 'create',
      target: 0.4,
      count: 100,
      prepare: calm,
      before: empty.before,
      work: ({ create }, name) => repeat((index) => create(`${empty.of(name)}/file-${index}`, new Uint8Array(0))),
    },
    {
      name: 'exclusive create, 4 KiB (others: not atomic)',
      operation: 'create',
      count: 100,
      prepare: calm,
      before: filled.before,
      work: ({ create }, name) => repeat((index) => create(`${filled.of(name)}/file-${index}`, small)),
    },
    {
      name: 'write 4 KiB (others: not atomic)',
      operation: 'write',
      target: 1,
      count: 20,
      prepare: calm,
      work: ({ write }, name) => repeat(() => write(`written/${name}`, small)),
    },
  ]
}
