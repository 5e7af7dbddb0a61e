/** @module-tag deep */
import { execFile } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { lowestNode } from '@ws/core/executor'
import { component, createScratchDirectory, itWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { extractExamples, installedBy, type Example } from './readme/extract.ts'
import { published, read } from './readme/pages.ts'
import { missingLines, repositoryRoot } from './readme/run.ts'
import { openStore } from './readme/store.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
const nodes = [lowestNode, process.versions.node, '26'] as const

const guide = 'docs/guides/run-plans.md'

interface Start {
  readonly place: string
  readonly example: Example
}

/** The first example of each README that can be run, and the three of the first page. */
const starts: Start[] = ['README.md', ...published].flatMap((path) =>
  extractExamples(read(path))
    .filter(({ noRun }) => noRun === undefined)
    .slice(0, path === 'README.md' ? 3 : 1)
    .map((example) => ({ place: `${path}:${example.line}`, example })),
)

let scratch: ScratchDirectory
/** The program of each version of Node. */
const programs = new Map<string, string>([[process.versions.node, process.execPath]])

beforeAll(async () => {
  scratch = await createScratchDirectory({ prefix: 'ws-quick-' })
  const names = ['README.md', ...published, guide].flatMap((path) => installedBy(read(path).split('\n')))
  const project = join(scratch.path, 'my-app')
  await mkdir(project)
  await run('npm', ['run', '-s', 'pack', '--', project, ...new Set(names)], { cwd: repositoryRoot })
  const platform = `node-${process.platform}-${process.arch}`
  for (const version of nodes) {
    if (programs.has(version)) continue
    const place = join(scratch.path, `node-${version}`)
    await mkdir(place)
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${platform}@${version}`], {
      cwd: place,
    })
    programs.set(version, join(place, 'node_modules', platform, 'bin/node'))
  }
}, 600_000)

afterAll(() => scratch.remove())

let made = 0

/** Runs an example in an empty directory below the project that has the packages, and gives the lines that it printed. */
async function play({ example }: Start, node: string, user: { uid: number; gid: number } | undefined) {
  const directory = join(scratch.path, 'my-app', `run-${(made += 1)}`)
  await mkdir(directory)
  await writeFile(join(directory, 'example.ts'), example.code)
  if (user !== undefined) await chown(directory, user.uid, user.gid)
  await using store = await openStore(example.store)
  const { PATH } = process.env
  const env = { PATH, HOME: directory, ...store.env }
  const { stdout } = await run(programs.get(node) ?? '', ['example.ts'], { cwd: directory, env, ...user })
  return stdout.split('\n')
}

/** A mount needs rights that an ordinary user may not have here. */
const mounts = ({ example }: Start) => example.code.includes('@ws/adapter-rclone')
const touchesMachine = ({ example }: Start) =>
  /@ws\/(?:adapter-local|adapter-rclone|process|sandbox)/u.test(example.code)

describe.each(nodes)('with packed packages on Node %s', (node) => {
  it(`${guide}: ws finds the package that the guide installs beside it, and the plan has no fault`, async () => {
    const [, plan = ''] = /```yaml\n(version: .*?)```/su.exec(read(guide)) ?? []
    const directory = join(scratch.path, 'my-app', `run-${(made += 1)}`)
    await mkdir(join(directory, 'src'), { recursive: true })
    await writeFile(join(directory, 'plan.yaml'), plan)
    const ws = join(scratch.path, 'my-app/node_modules/.bin/ws')
    const args = ['run', 'plan.yaml', '--workspace', '.', '--output', 'out', '--dry-run']
    const { stdout } = await run(programs.get(node) ?? '', [ws, ...args], { cwd: directory })
    expect(stdout).toBe('lint  command\ncopy  command  lint\n')
  })

  for (const start of starts) {
    const { place, example } = start
    // a store is the same to every Node
    if (example.store !== undefined && node !== lowestNode) continue
    const users = [
      ...(isRoot && mounts(start) ? [] : ['an ordinary user']),
      ...(isRoot && touchesMachine(start) ? ['root'] : []),
    ]
    for (const user of users) {
      itWith(example.needs.map(component), `[HO2] ${place} runs in an empty directory, as ${user}`, async () => {
        const printed = await play(start, node, isRoot && user !== 'root' ? scratch.owner : undefined)
        expect(missingLines(example.prints, printed), printed.join('\n')).toEqual([])
      })
    }
  }
})
