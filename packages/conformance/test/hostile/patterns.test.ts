import { availableParallelism, loadavg } from 'node:os'
import { createLocalAdapter } from '@ws/adapter-local'
import { createMemoryAdapter } from '@ws/adapter-memory'
import { createS3Adapter } from '@ws/adapter-s3'
import { createWorkspace, isWorkspaceError, parseMountPath, rules } from '@ws/core'
import type { Rule, StorageAdapter, Workspace } from '@ws/core'
import { createScratchDirectory, watchTurns } from '@ws/test-fixtures'
import { sharedS3Server } from '@ws/test-fixtures/s3/vitest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hostileExpressions, hostileGlobs, hostileTexts, hostileTree } from './patterns.ts'

/** Milliseconds: of the whole, of one turn of the event loop, and from an abort to its effect. */
const most = { whole: 250, turn: 20, abort: 100 }
/** A measurement that another process or a garbage collection has spoilt is made again. */
const attempts = 4

/** Stores, and how deep a directory may lie in them. */
const stores: Readonly<Record<string, { readonly depth: number; open(): Promise<StorageAdapter> }>> = {
  memory: { depth: 1500, open: async () => createMemoryAdapter() },
  local: {
    depth: 300,
    async open() {
      const scratch = await createScratchDirectory()
      ends.push(() => scratch.remove())
      return createLocalAdapter({ root: scratch.path, owner: scratch.owner })
    },
  },
  s3: {
    depth: 400,
    async open() {
      const server = await sharedS3Server('r2')
      ends.push(() => server.close())
      const { bucket, endpoint, region, credentials } = server
      return createS3Adapter({ bucket, endpoint, region, credentials, prefix: 'hostile-patterns' })
    },
  },
}
const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

/** In the ordinary tests, one pattern of so many in the slower stores. */
function sampled<Pattern>(store: string, patterns: readonly Pattern[]): readonly Pattern[] {
  const oneOf = store === 'memory' || process.env['WS_DEEP'] === '1' ? 1 : 4
  return patterns.filter((_, index) => index % oneOf === 0)
}

type Attempt = (workspace: Workspace, signal: AbortSignal) => AsyncIterable<unknown> | Promise<unknown>

interface Measured {
  readonly outcome: string
  /** Milliseconds of this thread's processor time, and by the clock. */
  readonly whole: number
  readonly turn: number
  readonly wall: number
}

async function measure(workspace: Workspace, attempt: Attempt, signal: AbortSignal): Promise<Measured> {
  const turns = watchTurns()
  await new Promise((resolve) => setImmediate(resolve))
  const [before, start] = [process.threadCpuUsage(), performance.now()]
  const outcome = await outcomeOf(attempt, workspace, signal)
  const { user, system } = process.threadCpuUsage(before)
  const wall = performance.now() - start
  await new Promise((resolve) => setImmediate(resolve))
  turns.stop()
  return { outcome, whole: (user + system) / 1000, turn: turns.longest(), wall }
}

async function outcomeOf(attempt: Attempt, workspace: Workspace, signal: AbortSignal): Promise<string> {
  try {
    const result = await attempt(workspace, signal)
    if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return 'done'
    let count = 0
    for await (const _ of result as AsyncIterable<unknown>) count += 1
    return `found ${count}`
  } catch (error) {
    if (error === signal.reason && signal.aborted) return 'aborted'
    if (isWorkspaceError(error) && error.remedy !== undefined) return error.code
    throw error
  }
}

/** The attempt is answered or refused, in time. A bound that does not hold is exceeded each time. */
async function holds(workspace: Workspace, attempt: Attempt, what: string): Promise<string> {
  const never = new AbortController().signal
  let measured = await measure(workspace, attempt, never)
  const isLate = (): boolean =>
    measured.whole > most.whole || measured.turn > most.turn || (isIdle() && measured.wall > most.whole)
  for (let left = attempts; left > 0 && isLate(); left -= 1) measured = await measure(workspace, attempt, never)
  const { outcome, whole, turn } = measured
  if (isLate()) expect.fail(`${what}: ${outcome} after ${whole} ms, with a turn of ${turn} ms`)
  expect(outcome, what).toMatch(/^(?:done|found \d+|EINVAL|EACCES|EFBIG|ENAMETOOLONG|EOUTSIDE|ENOENT)$/)
  return outcome
}

/** An abort after some milliseconds has its effect in time. */
async function endsInTime(workspace: Workspace, attempt: Attempt, what: string): Promise<void> {
  let late = 0
  for (let left = attempts; left >= 0; left -= 1) {
    const controller = new AbortController()
    let aborted = Number.POSITIVE_INFINITY
    let before = process.threadCpuUsage()
    const timer = setTimeout(() => {
      aborted = performance.now()
      before = process.threadCpuUsage()
      controller.abort(new Error('enough'))
    }, 15)
    await outcomeOf(attempt, workspace, controller.signal)
    clearTimeout(timer)
    const { user, system } = process.threadCpuUsage(before)
    late = isIdle() ? performance.now() - aborted : (user + system) / 1000
    if (!controller.signal.aborted || late < most.abort) return
  }
  expect.fail(`${what} went on for ${late} ms after its abort`)
}

function isIdle(): boolean {
  return (loadavg()[0] ?? 0) < availableParallelism() / 2
}

function shown(pattern: string): string {
  return pattern.length > 40 ? `${pattern.slice(0, 30)}… (${pattern.length})` : pattern
}

describe.each(Object.keys(stores))('hostile patterns in %s', (name) => {
  let adapter: StorageAdapter
  let deepest = ''

  const open = async (list: readonly Rule[] = []): Promise<Workspace> =>
    createWorkspace({
      mounts: [
        { at: '/', adapter },
        {
          at: '/nested',
          adapter: () => createMemoryAdapter({ files: { [`/${'a'.repeat(200)}`]: 'x', '/.b/c': 'x' } }),
        },
      ],
      rules: list,
      scratch: false,
    })

  beforeAll(async () => {
    const store = stores[name]
    if (store === undefined) throw new Error('no such store')
    adapter = await store.open()
    ends.push(() => adapter.close())
    const tree = hostileTree(store.depth)
    deepest = Object.keys(tree).find((path) => path.endsWith('/f')) ?? ''
    for (const [path, text] of Object.entries(tree)) {
      await adapter.write(parseMountPath(path), new TextEncoder().encode(text), { parents: true })
    }
    const workspace = await open()
    // What is compiled late in the engine of the language is compiled now.
    for (let round = 0; round < 3; round += 1) {
      await Array.fromAsync(workspace.search('x|y', { regex: true, glob: ['**/a*/**/f', '!*.js'] }))
      await Array.fromAsync(workspace.search('zq$', { regex: true }))
      await Array.fromAsync(workspace.list('/', { recursive: true }))
    }
    await workspace.close()
  }, 60_000)

  it('[RU4] [RU8] globs in a search are answered or refused in time', async () => {
    const workspace = await open()
    const outcomes = new Set<string>()
    for (const glob of sampled(name, hostileGlobs)) {
      for (const list of [[glob], [`!${glob}`], ['*.x', glob, `!${glob}`]]) {
        const attempt: Attempt = (it, signal) => it.search('x', { glob: list, signal })
        outcomes.add(await holds(workspace, attempt, `${list[0] === glob ? '' : '!'}${shown(glob)}`))
        await endsInTime(workspace, attempt, shown(glob))
      }
    }
    expect([...outcomes]).toEqual(expect.arrayContaining(['EINVAL', 'found 0']))
    await workspace.close()
  }, 240_000)

  it('[RU4] [RU8] globs in rules and excluded paths are answered or refused in time', async () => {
    const outcomes = new Set<string>()
    const plain = await open()
    for (const glob of sampled(name, hostileGlobs)) {
      const excluded: Attempt = (it, signal) => it.list('/', { recursive: true, exclude: [glob], signal })
      await holds(plain, excluded, `excluding ${shown(glob)}`)
      let workspace: Workspace | undefined
      const making: Attempt = async () => {
        await workspace?.close()
        workspace = await open([rules.denyGlob(glob)])
      }
      const outcome = await holds(plain, making, `a rule with ${shown(glob)}`)
      outcomes.add(outcome)
      if (workspace === undefined || outcome !== 'done') continue
      for (const attempt of [
        (it, signal) => it.list('/', { recursive: true, details: true, signal }),
        (it, signal) => it.search('x', { signal }),
        (it, signal) => it.stat(deepest, { signal }),
        (it, signal) => it.read(`/nested/${'a'.repeat(200)}`, { signal }),
        (it) => it.explain({ operation: 'read', path: deepest }),
      ] satisfies Attempt[]) {
        await holds(workspace, attempt, `with a rule for ${shown(glob)}`)
      }
      await (workspace as Workspace).close()
    }
    expect([...outcomes].toSorted()).toEqual(['EINVAL', 'done'])
    await plain.close()
  }, 240_000)

  it('[RU8] expressions and texts are answered or refused in time', async () => {
    const workspace = await open()
    const outcomes = new Map<string, string>()
    for (const [pattern, regex] of sampled(name, [
      ...hostileExpressions.map((one) => [one, true] as const),
      ...hostileTexts.map((one) => [one, false] as const),
    ])) {
      for (const caseSensitive of [true, false]) {
        const attempt: Attempt = (it, signal) => it.search(pattern, { regex, caseSensitive, maxHits: 50, signal })
        outcomes.set(shown(pattern), await holds(workspace, attempt, shown(pattern)))
        await endsInTime(workspace, attempt, shown(pattern))
      }
    }
    expect(outcomes.get('(a+)+b')).toBe('found 50')
    expect(new Set(outcomes.values()).size).toBeGreaterThan(2)
    await workspace.close()
  }, 240_000)

  it('[RU8] lines without an end are cut off or refused in time', async () => {
    const workspace = await open()
    for (const [path, options] of [
      ['/long', {}],
      ['/long', { offset: 1 }],
      ['/code.min.js', { limit: 1 }],
      ['/ab', { offset: 1490 }],
    ] as const) {
      await holds(workspace, (it, signal) => it.readLines(path, { ...options, signal }), `lines of ${path}`)
    }
    await workspace.close()
  })
})

it('[RU8] [RU4] has at least 60 hostile patterns', () => {
  expect(hostileGlobs.length + hostileExpressions.length + hostileTexts.length).toBeGreaterThanOrEqual(60)
})
