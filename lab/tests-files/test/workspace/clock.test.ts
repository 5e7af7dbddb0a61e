import { globSync, readFileSync } from 'node:fs'

import { createMemoryAdapter } from '@ws/adapter-memory'
import { createWorkspace, type CheckpointEngine } from '@ws/core'
import { createNodeFs } from '@ws/core/node-fs'
import type { Executor, Terminal } from '@ws/core/executor'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { expect, it } from 'vitest'

const core = new URL('.', import.meta.resolve('@ws/core'))

/** The interpreter, with a terminal whose program ends at once. */
function withTerminal(): Executor {
  const virtual = createVirtualExecutor()
  const terminal = async (): Promise<Terminal> => ({
    output: (async function* () {
      yield new TextEncoder().encode('$ ')
    })(),
    commandOffset: 0,
    write: async () => 'written',
    resize: () => true,
    kill: () => false,
    wait: async () => ({ exitCode: 0, signal: null, timedOut: false }),
    [Symbol.asyncDispose]: async () => undefined,
  })
  return {
    ...virtual,
    async attach(view) {
      const attached = await virtual.attach(view)
      const { guarantees } = attached
      return {
        guarantees,
        spawn: (request, plan) => attached.spawn(request, plan),
        openTerminal: terminal,
        close: () => attached.close(),
      }
    },
  }
}

async function unused(): Promise<never> {
  throw new Error('not a part of this test')
}

/** Finds one change, and restores it. */
function oneChange(createdAt: number): CheckpointEngine {
  const checkpoint = { id: 'c1', createdAt, automatic: false }
  const state = { type: 'file', size: 1, modifiedAt: createdAt } as const
  return {
    automatic: false,
    attach: async (mounts) => ({
      adapters: mounts.map(({ adapter }) => adapter),
      save: async () => ({ checkpoint, leftOut: [] }),
      list: async () => [checkpoint],
      compare: async () => [
        { mount: 0, path: '/a.md' as never, before: { ...state, content: 'x' }, after: { ...state, content: 'y' } },
      ],
      diff: async () => '',
      restore: async () => [],
      hold: async () => undefined,
      ...{ fork: unused, compareFork: unused, merge: unused },
      settle: () => undefined,
      close: async () => undefined,
    }),
  }
}

it('[NF3] gives the results of a golden file: each time and each random name comes from `now` and `random`', async () => {
  let time = Date.UTC(2026, 0, 1)
  const now = (): number => time
  const numbers = (function* () {
    for (let seed = 7; ; seed = (seed * 48_271) % 2_147_483_647) yield seed / 2_147_483_647
  })()
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/a.md': 'one\n', '/b.md': 'two\n' }, now }) }],
    executors: [withTerminal()],
    checkpoints: oneChange(time),
    now,
    random: () => numbers.next().value,
  })
  const results: unknown[] = []
  workspace.on('access', (event) => results.push({ ...event, labels: undefined }))
  const steps: readonly (() => Promise<unknown>)[] = [
    () => workspace.write('/a.md', 'three\n'),
    async () => (await workspace.stat('/a.md')).modifiedAt,
    () => workspace.read('/none').catch(() => 'refused'),
    () => Array.fromAsync(workspace.list('/', { details: true })),
    () => Array.fromAsync(workspace.search('three')),
    () => Array.fromAsync(workspace.glob('*.md')),
    () => workspace.exec('echo out', { onOutput: () => (time += 250) }),
    async () => {
      const command = await workspace.start('echo out')
      const { duration } = await command.wait()
      return { startedAt: command.startedAt, duration }
    },
    async () => {
      const session = await workspace.openSession()
      return { startedAt: session.startedAt, ...(await session.wait()) }
    },
    () => workspace.restore('c1'),
    () => createNodeFs(workspace).mkdtemp('/run-'),
    async () => (await workspace.stat('/tmp')).modifiedAt,
  ]
  for (const step of steps) {
    results.push({ result: await step() })
    time += 1_000
  }
  await workspace.close()
  const golden = results.map((result) => `${JSON.stringify(result)}\n`).join('')
  await expect(golden).toMatchFileSnapshot('clock.golden.jsonl')
})

/** The places that read the machine's clock or chance, with the reason. */
const places: Readonly<Record<string, string>> = {
  'adapter/pace.ts': 'when the event loop gets its turn',
  'calls/audit.ts': 'the defaults of `now` and `random`',
  'commands/start-in-time.ts': 'the timeout of a start',
  'files/edit.ts': 'the timeout and the pauses of an edit',
  'layers/observe.ts': 'the durations of a layer, which has no workspace',
  'node-fs/directories.ts': 'names for a workspace of another make',
  'watch/watch.ts': 'the pauses between two looks of a watch',
}

it('[NF3] core reads the clock of the machine in no other place', () => {
  const reading = /Date\.now|performance\.now|new Date\(\)|Math\.random|getRandomValues|randomUUID/u
  const found = globSync('**/*.ts', { cwd: core }).filter((file) =>
    reading.test(readFileSync(new URL(file, core), 'utf8')),
  )
  expect(found.toSorted()).toEqual(Object.keys(places))
})
