import { Session } from 'node:inspector/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, rules } from '@ws/core'
import { createBubblewrapExecutor } from '@ws/executor-bubblewrap'
import { createVirtualExecutor } from '@ws/executor-virtual'
import { component, createScratchDirectory, ordinaryOwner } from '@ws/test-fixtures'
import { startR2Server } from '@ws/test-fixtures/s3'
import { createThreads } from '@ws/threads'
import { createTools } from '@ws/tools'

import { type Measurement, own, type Report, summary } from './measure.ts'
import { makeFile, openSite } from './site.ts'

interface Way {
  readonly name: string
  readonly target?: number | undefined
  readonly call: (round: number) => Promise<unknown>
}

const warmUps = 5
const measuredCalls = 5

/** Counts this project's source files and functions that a warm call enters on the caller's thread: the least of several calls. */
export async function measureWays(report: Report): Promise<void> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const measure = async (way: Way): Promise<void> => {
    for (let round = 0; round < warmUps; round += 1) await way.call(round)
    const lengths: Measurement[] = []
    for (let round = warmUps; round < warmUps + measuredCalls; round += 1) {
      await session.post('Profiler.takePreciseCoverage')
      await way.call(round)
      const { result } = await session.post('Profiler.takePreciseCoverage')
      lengths.push(lengthOf(way, result))
    }
    // on a busy machine, a call can enter more functions
    const [shortest] = lengths.toSorted((left, right) => filesOf(left) - filesOf(right))
    if (shortest !== undefined) report(shortest)
  }
  await measureLocal(measure)
  await measureThreads(measure)
  await measureVirtual(measure)
  await measureS3(measure)
}

async function measureLocal(measure: (way: Way) => Promise<void>): Promise<void> {
  const executors = component('bubblewrap').available ? [createBubblewrapExecutor()] : []
  await using site = await openSite({ executors, rules: [rules.deny('/workspace/secrets')] })
  const { workspace, directory } = site
  await using toolset = createTools(workspace)
  const content = new Uint8Array(4096).fill(120)
  makeFile(`${directory}/file`, 'x'.repeat(4096))
  makeFile(`${directory}/edited`, 'state 0\n')
  await measure({ name: 'read 4 KiB, local', target: 28, call: () => workspace.read('file') })
  await measure({ name: 'write 4 KiB, local', call: () => workspace.write('file', content) })
  await measure({
    name: 'tool read, local',
    call: () => toolset.run('file_system', { operation: 'read', path: 'file' }),
  })
  await measure({
    name: 'tool replace, local',
    call: (round) =>
      toolset.run('file_system', {
        operation: 'replace',
        path: 'edited',
        old: `state ${round}\n`,
        new: `state ${round + 1}\n`,
      }),
  })
  if (executors.length > 0)
    await measure({ name: 'exec true, bubblewrap, one deny', target: 70, call: () => workspace.exec('true') })
}

async function measureThreads(measure: (way: Way) => Promise<void>): Promise<void> {
  await using scratch = await createScratchDirectory({ owner: ordinaryOwner() })
  process.env['XDG_STATE_HOME'] = await scratch.createDirectory('state')
  const store = await createLocalAdapter({ root: await scratch.createDirectory('store') })
  await using threads = await createThreads({ store })
  const openAndClose = async (threadId: string) => (await threads.open({ threadId, userId: 'u' })).close()
  await measure({ name: 'open and close a new thread', call: (round) => openAndClose(`t${round}`) })
  await measure({ name: 'open and close a known thread', call: () => openAndClose('t0') })
  await store.close()
}

async function measureVirtual(measure: (way: Way) => Promise<void>): Promise<void> {
  const workspace = await createWorkspace({
    mounts: [{ at: '/', adapter: () => createMemoryAdapter({ files: { '/file': 'x' } }) }],
    executors: [createVirtualExecutor()],
  })
  await measure({ name: 'cat, virtual', call: () => workspace.exec('cat file') })
  await workspace.close()
}

async function measureS3(measure: (way: Way) => Promise<void>): Promise<void> {
  const server = await startR2Server()
  try {
    const { endpoint, region, bucket, credentials } = server
    const adapter = () => createS3Adapter({ endpoint, region, bucket, credentials })
    const workspace = await createWorkspace({ mounts: [{ at: '/', adapter }] })
    let { version } = await workspace.write('file', 'x')
    await measure({
      name: 'conditional write, S3',
      call: async (round) => {
        ;({ version } = await workspace.write('file', `x${round}`, { ifVersion: version }))
      },
    })
    await workspace.close()
  } finally {
    await server.close()
  }
}

interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
}

const ours = /\/packages\/(.+?)\/src\//

function lengthOf({ name, target }: Way, scripts: readonly ScriptCoverage[]): Measurement {
  const files = new Map<string, number>()
  let functions = 0
  let calls = 0
  for (const script of scripts) {
    const [, owner] = ours.exec(script.url) ?? []
    const counts = script.functions.map(({ ranges }) => ranges[0]?.count ?? 0).filter((count) => count > 0)
    if (owner === undefined || counts.length === 0) continue
    files.set(owner, (files.get(owner) ?? 0) + 1)
    functions += counts.length
    for (const count of counts) calls += count
  }
  const parts = [...files]
    .toSorted(([, left], [, right]) => right - left)
    .map(([owner, count]) => summary(owner, [count]))
  const all = [...files.values()].reduce((sum, count) => sum + count, 0)
  const figures = [summary(own, [all]), summary('functions', [functions]), summary('calls', [calls]), ...parts]
  return { section: 'ways', name, against: 'files', target, figures }
}

function filesOf({ figures }: Measurement): number {
  return figures[0]?.median ?? 0
}
