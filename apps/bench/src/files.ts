import { rmSync } from 'node:fs'
import { join } from 'node:path'

import { createLocalAdapter } from '@ws/adapter-local'
import { ordinaryOwner } from '@ws/test-fixtures'

import type { Contender, OperationName, Operations } from './contenders/contender.ts'
import { openNode } from './contenders/node.ts'
import { others } from './contenders/others.ts'
import { adapterContender, ownContender } from './contenders/own.ts'
import { type Comparison, type Measurement, type Way, compare, own, repeat, summary } from './measure.ts'
import { makeDirectory, makeFile, makeTree, openSite } from './site.ts'

const section = 'files'
/** Milliseconds from the start of the process after which no further case begins. */
const enough = 55_000
const small = new Uint8Array(4_096).fill(120)
const large = new Uint8Array(1024 * 1024).fill(120)

interface Case extends Omit<Comparison, 'reference' | 'ways'> {
  readonly operation: OperationName
  readonly work: (operations: Required<Operations>, name: string) => Way['run']
  /** Names of contenders, where preparing the work for all of them takes too long. */
  readonly only?: readonly string[]
  /** Untimed, before each run of a way: what the run uses up. */
  readonly before?: (name: string, count: number) => void
}

/** File operations through the whole workspace, the adapter alone, and what others offer. */
export async function measureFiles(report: (measurement: Measurement) => void): Promise<void> {
  await using site = await openSite()
  const { directory, workspace } = site
  await using adapter = await createLocalAdapter({ root: directory, owner: ordinaryOwner() })
  const reference = await openNode(directory)
  const contenders: Contender[] = [ownContender(workspace), adapterContender(adapter)]
  for (const [name, open] of Object.entries(others)) {
    try {
      contenders.push(await open(directory))
    } catch (error) {
      console.error(`${name} cannot be driven here: ${String(error)}`)
    }
  }
  plant(directory)
  for (const { operation, work, before, only, ...comparison } of casesIn(directory)) {
    const way = ({ name, operations }: Contender): Way => ({
      name,
      run: work(operations as Required<Operations>, folderOf(name)),
      before: before && (async () => before(folderOf(name), comparison.count)),
    })
    const able = contenders.filter(
      ({ name, operations }) => operations[operation] !== undefined && (only === undefined || only.includes(name)),
    )
    if (performance.now() > enough) {
      const failure = 'no time was left: the machine is busy'
      report({ section, ...comparison, against: reference.name, figures: [{ ...summary(own, []), failure }] })
      continue
    }
    report(await compare(section, { ...comparison, reference: way(reference), ways: able.map(way) }))
  }
}

const folderOf = (name: string): string => name.replaceAll(/\W/g, '')

function plant(directory: string): void {
  makeDirectory(join(directory, 'dir/deeper/still'))
  makeFile(join(directory, 'dir/deeper/still/small.txt'), small)
  makeFile(join(directory, 'dir/deeper/still/large.txt'), large)
  makeDirectory(join(directory, 'many'))
  for (let index = 0; index < 2_000; index += 1) makeFile(join(directory, `many/entry-${index}.txt`), '')
  makeTree(join(directory, 'tree'))
  makeDirectory(join(directory, 'written'))
}

function casesIn(directory: string): Case[] {
  const renew = (name: string): void => {
    rmSync(join(directory, name), { recursive: true, force: true })
    makeDirectory(join(directory, name))
  }
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
      name: 'list 2,000 with size and time',
      operation: 'listWithDetails',
      target: 0.55,
      count: 2,
      work: ({ listWithDetails }) => repeat(() => listWithDetails('many')),
    },
    {
      name: 'list 5,000 recursively',
      operation: 'listTree',
      target: 0.6,
      count: 1,
      work: ({ listTree }) => repeat(() => listTree('tree')),
    },
    {
      name: 'write 4 KiB (others: not atomic)',
      operation: 'write',
      target: 1,
      count: 100,
      work: ({ write }, name) => repeat(() => write(`written/${name}`, small)),
    },
    {
      name: 'exclusive create, empty',
      operation: 'create',
      target: 0.4,
      count: 200,
      before: renew,
      work: ({ create }, name) => repeat((index) => create(`${name}/file-${index}`, new Uint8Array(0))),
    },
    {
      name: 'exclusive create, 4 KiB',
      operation: 'create',
      count: 200,
      before: renew,
      work: ({ create }, name) => repeat((index) => create(`${name}/file-${index}`, small)),
    },
    {
      name: 'delete',
      operation: 'remove',
      count: 200,
      before(name, count) {
        renew(name)
        for (let index = 0; index < count; index += 1) makeFile(join(directory, name, `file-${index}`), '')
      },
      work: ({ remove }, name) => repeat((index) => remove(`${name}/file-${index}`)),
    },
    {
      name: 'delete 5,000 recursively',
      operation: 'removeTree',
      target: 1.2,
      count: 1,
      maxRounds: 7,
      budget: 1_000,
      only: [own, 'adapter alone', '@mastra/core'],
      before: (name) => makeTree(join(directory, `${name}-tree`)),
      work: ({ removeTree }, name) => repeat(() => removeTree(`${name}-tree`)),
    },
  ]
}
