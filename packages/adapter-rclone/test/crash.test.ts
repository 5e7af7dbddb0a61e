import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { StorageAdapter } from '@ws/core'
import { isWorkspaceError } from '@ws/core'
import { describeWith } from '@ws/test-fixtures'
import { startCephServer } from '@ws/test-fixtures/s3'
import { expect, it, onTestFinished, vi } from 'vitest'

import { type Report, randomFrom, stepsFrom, work } from './child/workload.ts'
import { type Content, Model } from './model.ts'
import { type Store, at, isDeep, mountNeeds, open, openStore, optionsFor, rcloneOf, scratch, text } from './support.ts'

const rounds = isDeep ? 50 : 10
const steps = isDeep ? 200 : 40
/** Milliseconds in which the steps are done, about. */
const longestRunMs = isDeep ? 4_000 : 800
const firstSeed = Number(process.env['WS_SEED'] ?? '1')

async function contentIn(adapter: StorageAdapter, path: string): Promise<Content> {
  try {
    return text((await adapter.read(at(path))).bytes)
  } catch (error) {
    if (isWorkspaceError(error, 'ENOENT')) return undefined
    throw error
  }
}

async function contentsOf(store: Store): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const key of await store.keys('threads/t1/')) found.set(key.slice('threads/t1'.length), await store.get(key))
  return found
}

/** For messages: the tail of a content says nothing. */
const brief = (content: Content): string => content?.slice(0, 30) ?? 'nothing'

function agrees(found: Content, possible: ReadonlySet<Content>, isPartial = false): string | undefined {
  if (possible.has(found)) return undefined
  if (isPartial && found !== undefined && [...possible].some((content) => content?.startsWith(found))) return undefined
  return `is ${brief(found)}, and may be ${[...possible].map(brief).join(' or ')}`
}

/** Nothing that was confirmed is missing in the store. */
async function checkConfirmed(store: Store, model: Model, seed: number): Promise<void> {
  const stored = await contentsOf(store)
  for (const [path, possible] of model.confirmed) {
    expect(agrees(stored.get(path), possible), `seed ${seed}: confirmed ${path}`).toBeUndefined()
  }
}

/** What was acknowledged is there; after a flush, in the store too, and nothing else is. */
async function checkRecovered(adapter: StorageAdapter, store: Store, model: Model, seed: number): Promise<void> {
  for (const [path, possible] of model.possible) {
    expect(
      agrees(await contentIn(adapter, path), possible, model.partial.has(path)),
      `seed ${seed}: recovered ${path}`,
    ).toBeUndefined()
  }
  await adapter.flush?.()
  const stored = await contentsOf(store)
  for (const [path, possible] of model.possible) {
    expect(agrees(stored.get(path), possible, model.partial.has(path)), `seed ${seed}: stored ${path}`).toBeUndefined()
  }
  expect(
    [...stored.keys()].filter((path) => !model.possible.has(path)),
    `seed ${seed}: left over`,
  ).toEqual([])
}

describeWith(mountNeeds, '[RP14] crashes at random moments', () => {
  it(
    `of rclone and of the process, ${rounds} times`,
    async () => {
      let acknowledged = 0
      const crash = async (run: Run, seed: number): Promise<void> => {
        const store = await openStore()
        const options = { ...optionsFor(store, await scratch()), writeBackMs: 50 }
        const { model, adapter } = await run(options, seed, store)
        await checkRecovered(adapter, store, model, seed)
        acknowledged += model.acknowledged
        await adapter.close()
      }
      // two at once: most of a round is waiting
      for (let seed = firstSeed; seed < firstSeed + rounds; seed += 2) {
        await Promise.all([crash(killRclone, seed), crash(killProcess, seed + 1)])
      }
      expect(acknowledged).toBeGreaterThan(rounds)
    },
    isDeep ? 1_200_000 : 120_000,
  )

  it(
    'of the gateway, which comes back',
    async () => {
      const server = await startCephServer()
      onTestFinished(() => server.close())
      for (let round = 0; round < (isDeep ? 15 : 1); round += 1) {
        const seed = firstSeed + 1_000 + round
        const store = await openStore(server)
        const adapter = await open({ ...optionsFor(store, await scratch()), writeBackMs: 50, flushTimeoutMs: 2_000 })
        const all = stepsFrom(seed, steps)
        const model = new Model(all)
        const working = work(adapter, all, (report) => model.report(report))
        await delay(randomFrom(seed)() * 1_500)
        await server.gateway.kill()
        await delay(200)
        await server.gateway.start()
        await working
        await vi.waitFor(() => adapter.flush({ timeoutMs: 30_000 }), { timeout: 40_000 })
        await adapter.refresh()
        await checkRecovered(adapter, store, model, seed)
        await adapter.close()
      }
    },
    isDeep ? 1_200_000 : 120_000,
  )
})

type Run = (
  options: ReturnType<typeof optionsFor>,
  seed: number,
  store: Store,
) => Promise<{ readonly model: Model; readonly adapter: StorageAdapter }>

const killRclone: Run = async (options, seed, store) => {
  let recovered = false
  const onEvent = ({ kind }: { readonly kind: string }): void => void (recovered ||= kind === 'recovered')
  const adapter = await open({ ...options, onEvent })
  const all = stepsFrom(seed, steps)
  const model = new Model(all)
  let stopped = false
  const working = work(adapter, all, (report) => {
    if (stopped) throw new Error('it is over')
    model.report(report)
  })
  working.catch(() => undefined)
  await delay(randomFrom(seed)() * longestRunMs)
  // what ends from now on was not acknowledged before, and nothing more is begun
  stopped = true
  process.kill(await rcloneOf(options.directory ?? ''), 'SIGKILL')
  await working.catch(() => undefined)
  await vi.waitFor(() => expect(recovered).toBe(true), { timeout: 30_000, interval: 20 })
  await checkConfirmed(store, model, seed)
  return { model, adapter }
}

const killProcess: Run = async (options, seed, store) => {
  const script = fileURLToPath(new URL('child/worker.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=@ws/source', script], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const model = new Model(stepsFrom(seed, steps))
  const { promise: mounted, resolve } = Promise.withResolvers<void>()
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const told = JSON.parse(line) as Report | 'mounted' | 'finished'
    if (told === 'mounted') resolve()
    else if (told !== 'finished') model.report(told)
  })
  child.stdin.end(JSON.stringify({ options, seed, count: steps }))
  await mounted
  const closed = once(lines, 'close')
  await delay(randomFrom(seed)() * longestRunMs)
  child.kill('SIGKILL')
  await closed
  await checkConfirmed(store, model, seed)
  // the keeper of the killed process needs a moment to let go
  let adapter: StorageAdapter | undefined
  await vi.waitFor(async () => (adapter = await open(options)), { timeout: 20_000, interval: 50 })
  if (adapter === undefined) throw new Error('it was not mounted again')
  return { model, adapter }
}
