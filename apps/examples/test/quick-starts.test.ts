/** @module-tag deep */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { lowestNode } from '@ws/core/executor'
import { bundleForNode } from '@ws/test-fixtures/bundle'
import { component, createScratchDirectory, installNodes, itWith, type ScratchDirectory } from '@ws/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { extractExamples, installedBy, type Example } from './readme/extract.ts'
import { published, read } from './readme/pages.ts'
import { mounts, playExample } from './readme/play.ts'
import { missingLines, repositoryRoot } from './readme/run.ts'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0
/** The oldest and the newest. `npm test` runs the examples on the one between. */
const nodes = [lowestNode, '26'] as const

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
let project: string
/** The program of each version of Node. */
let programs: ReadonlyMap<string, string>

beforeAll(async () => {
  scratch = await createScratchDirectory({ prefix: 'ws-quick-' })
  const names = ['README.md', ...published, guide].flatMap((path) => installedBy(read(path).split('\n')))
  project = join(scratch.path, 'my-app')
  await mkdir(project)
  await run('npm', ['run', '-s', 'pack', '--', project, ...new Set(names)], { cwd: repositoryRoot })
  programs = await installNodes(nodes, scratch.path)
}, 1_200_000) // npm computes for minutes where other tests run beside it

afterAll(() => scratch.remove())

itWith(
  [component('bubblewrap')],
  'a program of packed packages runs as one bundled file, where no package is installed',
  async () => {
    const [first] = starts
    const input = join(project, 'bundled.ts')
    await writeFile(input, first?.example.code ?? '')
    const file = join(scratch.path, 'bundle', 'app.mjs')
    await bundleForNode(input, file)
    const directory = join(scratch.path, 'bundle', 'run')
    await mkdir(directory)
    const { stdout } = await run(process.execPath, [file], { cwd: directory })
    expect(missingLines(first?.example.prints ?? [], stdout.split('\n'))).toEqual([])
  },
)

const touchesMachine = ({ code }: Example) => /@ws\/(?:adapter-local|adapter-rclone|process|sandbox)/u.test(code)

describe.each(nodes)('with packed packages on Node %s', (node) => {
  it(`${guide}: ws finds the package that the guide installs beside it, and the plan has no fault`, async () => {
    const [, plan = ''] = /```yaml\n(version: .*?)```/su.exec(read(guide)) ?? []
    const directory = await mkdtemp(join(project, 'run-'))
    await mkdir(join(directory, 'src'))
    await writeFile(join(directory, 'plan.yaml'), plan)
    const ws = join(project, 'node_modules/.bin/ws')
    const args = ['run', 'plan.yaml', '--workspace', '.', '--output', 'out', '--dry-run']
    const { stdout } = await run(programs.get(node) ?? '', [ws, ...args], { cwd: directory })
    expect(stdout).toBe('lint  command\ncopy  command  lint\n')
  })

  for (const { place, example } of starts) {
    // a store is the same to every Node
    if (example.store !== undefined && node !== lowestNode) continue
    const users = [
      ...(isRoot && mounts(example) ? [] : ['an ordinary user']),
      // what root may do is the same to every Node
      ...(isRoot && node === lowestNode && touchesMachine(example) ? ['root'] : []),
    ]
    for (const user of users) {
      itWith(example.needs.map(component), `[HO2] ${place} runs in an empty directory, as ${user}`, async () => {
        const given = {
          project,
          node: programs.get(node) ?? '',
          user: isRoot && user !== 'root' ? scratch.owner : undefined,
        }
        const printed = await playExample(example, given)
        expect(missingLines(example.prints, printed), printed.join('\n')).toEqual([])
      })
    }
  }
})
