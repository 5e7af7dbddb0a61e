import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

import type { Workspace } from '@ws/core'
import { ordinaryOwner } from '@ws/test-fixtures'

import { type Comparison, type Way, drain, own, repeat } from '../measure.ts'
import type { FileTarget } from './targets.ts'

export interface TreeSite {
  readonly target: FileTarget
  readonly workspace: Workspace
}

/** The same on this machine: bare commands work there too. */
export interface DirectorySite extends TreeSite {
  /** Host path. */
  readonly root: string
}

export interface CommandSites {
  readonly mount: DirectorySite
  readonly disk: DirectorySite
  readonly bucket: TreeSite
}

export interface NotedComparison extends Comparison {
  readonly note?: string
}

const files = 2_000
/** The highest ratio to the time that the same command takes on the bare mount. */
const target = 1.1
const budget = 10_000
const run = promisify(execFile)
const needle = 'not to be found'
const git = ['git', '-c', 'safe.directory=*'] as const

/** `git status` and `grep -r` over a tree, through the workspace and without it. Commands run as the files' owner. */
export async function commandComparisons({ mount, disk, bucket }: CommandSites): Promise<NotedComparison[]> {
  for (const { target } of [mount, disk, bucket]) await target.fill([...paths, ...protectedPaths])
  for (const { root, target } of [mount, disk]) {
    await bare(root, [...git, 'init', '-q'])
    await bare(root, [...git, 'add', '-A'])
    await target.settle()
  }
  const compared = (name: string, argv: readonly string[], others: readonly Way[] = []): Comparison => ({
    name: `${name}, ${files.toLocaleString('en')} files`,
    reference: bareWay('bare mount', mount, argv),
    ways: [
      commandWay(own, mount, argv),
      bareWay('bare local disk', disk, argv),
      commandWay('workspace on local disk', disk, argv),
      ...others,
    ],
    count: 1,
    target,
    budget,
  })
  const grep = ['grep', '-r', needle, '.']
  return [
    {
      ...compared('git status', [...git, 'status', '--porcelain']),
      note: 'through the workspace with the start of a sandbox, as on a local disk; by the API of S3 there is no git',
    },
    compared('grep -r', grep, [
      commandWay('workspace on S3, virtual', bucket, grep),
      { name: 'workspace on S3, search()', run: () => search(bucket) },
    ]),
  ]
}

const paths: readonly string[] = Array.from(
  { length: files },
  (_, index) => `tree/d${Math.floor(index / 100)}/f${index % 100}`,
)

/** The parts that the usual rules protect: where one is missing, the sandbox refuses to run anything. */
const protectedPaths = ['vendor/f', 'secrets/f', '.git/hooks/f', '.env']

function bareWay(name: string, { root, target }: DirectorySite, argv: readonly string[]): Way {
  return { name, before: () => delay(target.maxStaleness), run: repeat(() => bare(root, argv)) }
}

async function bare(root: string, [program = '', ...args]: readonly string[]): Promise<void> {
  const owner = process.getuid?.() === 0 ? ordinaryOwner() : {}
  const options = { ...owner, cwd: join(root, 'tree'), env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' } }
  await run(program, args, options).catch((error: { code?: unknown }) => {
    if (!isExpected(program, error.code)) throw error
  })
}

function commandWay(name: string, { workspace, target }: TreeSite, argv: readonly string[]): Way {
  const [program = ''] = argv
  return {
    name,
    before: () => delay(target.maxStaleness),
    run: repeat(async () => {
      const { exitCode, stderr } = await workspace.exec(argv, { cwd: 'tree' })
      if (exitCode !== 0 && !isExpected(program, exitCode)) throw new Error(`exit ${exitCode}: ${stderr}`)
    }),
  }
}

/** grep says so when it finds nothing. */
const isExpected = (program: string, exitCode: unknown): boolean => program === 'grep' && exitCode === 1

async function search({ workspace }: TreeSite): Promise<void> {
  const hits = await drain(workspace.search(needle, { in: 'tree' }))
  if (hits !== 0) throw new Error(`${hits} hits, not 0`)
}
