/** @module-tag all */
import { readFile, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'

import { paths } from '@ws/core'
import { type Executor, type Guarantees, noGuarantees } from '@ws/core/executor'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createContainerExecutor } from '@ws/executor-machine/container'
import { createProotExecutor } from '@ws/executor-proot'
import { createSandboxRuntimeExecutor } from '@ws/executor-sandbox-runtime'
import { createSanitizeExecutor } from '@ws/executor-sanitize'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, itWith, openEngine, type TestEngine } from '@ws/test-fixtures'
import { expect } from 'vitest'

interface Row {
  readonly system: string
  readonly executor: string
  /** The executor on this system. Absent: it was never tried there, and `claims` are those of its code. */
  readonly create?: (engine: TestEngine) => Executor
  readonly claims?: Partial<Guarantees>
  /** The root of the probe. Default `/workspace`. */
  readonly root?: string
}

const seatbelt = { fileContent: 'kernel', sockets: 'kernel', network: 'kernel', readOnlyMounts: 'kernel' } as const

/** One row for each executor on each system. The rows of Linux are probed here. */
const rows: readonly Row[] = [
  { system: 'Linux', executor: 'bubblewrap', create: () => createBubblewrapExecutor() },
  {
    system: 'Linux',
    executor: 'container',
    create: ({ address, image }) => createContainerExecutor({ engine: address, image }),
  },
  { system: 'Linux', executor: 'proot', create: () => createProotExecutor() },
  { system: 'Linux', executor: 'sandbox-runtime', create: () => createSandboxRuntimeExecutor(), root: tmpdir() },
  { system: 'Linux', executor: 'sanitize', create: () => createSanitizeExecutor() },
  { system: 'Linux', executor: 'virtual', create: () => createVirtualExecutor() },
  {
    system: 'macOS',
    executor: 'sandbox-runtime',
    claims: { ...seatbelt, subtrees: 'translated', deniedSubtrees: 'translated' },
  },
]

const columns: readonly (readonly [keyof Guarantees, string])[] = [
  ['fileContent', 'files outside'],
  ['fileMetadata', 'their existence'],
  ['sockets', 'sockets'],
  ['network', 'network'],
  ['processes', 'processes'],
  ['readOnlyMounts', 'read-only mounts'],
  ['subtrees', 'read-only parts'],
  ['deniedSubtrees', 'denied parts'],
]

async function line(
  { system, executor, create, claims = {}, root = '/workspace' }: Row,
  engine: TestEngine,
): Promise<string> {
  const report = await create?.(engine).probe({
    root: paths.parseVirtual(root === '/workspace' ? root : await realpath(root)),
  })
  if (report !== undefined)
    expect(report, `${executor}: ${report.missing.join('; ')}`).toMatchObject({ available: true })
  const guarantees = report?.guarantees ?? { ...noGuarantees, ...claims }
  const cells = columns.map(([field]) => (guarantees[field] === 'none' ? '–' : `\`${guarantees[field]}\``))
  return `| ${[system, executor, ...cells, report === undefined ? '**not yet**' : `${system}, by the tests`].join(' | ')} |`
}

const page = new URL('../../../../docs/guides/run-on-macos-and-windows.md', import.meta.url).pathname
const [begin, end] = ['<!-- the table: written by lab/tests-commands/test/systems -->\n', '<!-- end of the table -->']

itWith(
  [component('bubblewrap'), component('proot'), component('landlock'), component('perl'), component('dockerd')],
  'the table of systems says what the probes saw (`vitest -u` writes it)',
  async () => {
    const head = ['system', 'executor', ...columns.map(([, title]) => title), 'tried on']
    const lines = [head, head.map(() => '---')].map((cells) => `| ${cells.join(' | ')} |`)
    await using engine = await openEngine()
    for (const row of rows) lines.push(await line(row, engine))
    const text = await readFile(page, 'utf8')
    const [before, rest] = [text.slice(0, text.indexOf(begin)), text.slice(text.indexOf(end))]
    await expect(`${before}${begin}${lines.join('\n')}\n${rest}`).toMatchFileSnapshot(page)
  },
)
