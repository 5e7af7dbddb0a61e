import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

import type { StorageAdapter } from '@ws/core/adapter'
import { isWorkspaceError } from '@ws/core'
import { expect, onTestFinished, vi } from 'vitest'
import { deep } from '@ws/test-fixtures'

import type { RcloneAdapter } from '../src/index.ts'
import { type Report, randomFrom, stepsFrom, work } from './child/workload.ts'
import { type Content, Model } from './model.ts'
import {
  type Store,
  at,
  mountsBelow,
  open,
  type optionsFor,
  processesNaming,
  rcloneOf,
  text,
  waitingThreads,
} from './support.ts'

export const steps = deep ? 120 : 40
/** Milliseconds in which the steps are done, about. */
const longestRunMs = deep ? 2_400 : 800
/** Milliseconds in which a mount works again. */
const startMs = 10_000

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

/** Acknowledged content is there; after a flush, in the store too, and nothing else is. */
export async function checkRecovered(adapter: StorageAdapter, store: Store, model: Model, seed: number): Promise<void> {
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

/** A store that stops answering before the crash, and answers again after it. */
export interface Silence {
  readonly hang: () => void
  readonly answer: () => void
  readonly untilAsked: () => Promise<void>
}

export interface Crash {
  readonly options: ReturnType<typeof optionsFor>
  readonly seed: number
  readonly store: Store
  /** Without: the store answers all the time. */
  readonly silence?: Silence | undefined
}

type Run = (crash: Crash) => Promise<{ readonly model: Model; readonly adapter: StorageAdapter }>

/** Resolves just before the crash. */
async function untilCrash({ seed, silence }: Crash): Promise<void> {
  const random = randomFrom(seed)
  await delay(random() * longestRunMs)
  if (silence === undefined) return
  silence.hang()
  await delay(random() * 500)
}

export const killRclone: Run = async (crash) => {
  const { options, seed, store, silence } = crash
  const seen = new Set<string>()
  const adapter = await open({ ...options, onEvent: ({ kind }) => void seen.add(kind) })
  const all = stepsFrom(seed, steps)
  const model = new Model(all)
  let stopped = false
  const working = work(adapter, all, (report) => {
    if (stopped) throw new Error('it is over')
    model.report(report)
  })
  working.catch(() => undefined)
  await untilCrash(crash)
  // what ends from now on was not acknowledged before, and nothing more is begun
  stopped = true
  const rclone = await rcloneOf(options.directory ?? '')
  process.kill(rclone, 'SIGKILL')
  const asked = silence?.untilAsked() // by an attempt to bring the mount back
  asked?.catch(() => undefined)
  await working.catch(() => undefined)
  await vi.waitFor(() => expect(seen).toContain('lost'), { timeout: startMs, interval: 20 })
  expect(await processesNaming(options.directory ?? '')).not.toContain(rclone)
  await vi.waitFor(() => expect(waitingThreads(process.pid)).toBe(0), { timeout: startMs, interval: 20 })
  await asked
  if (silence !== undefined) await comeBack(adapter, silence)
  await vi.waitFor(() => expect(seen).toContain('recovered'), { timeout: 30_000, interval: 20 })
  await checkConfirmed(store, model, seed)
  return { model, adapter }
}

async function comeBack(adapter: RcloneAdapter, { answer }: Silence): Promise<void> {
  answer()
  const start = performance.now()
  await adapter.recover()
  expect(performance.now() - start).toBeLessThan(startMs)
}

export const killProcess: Run = async (crash) => {
  const { options, seed, store, silence } = crash
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
  const ended = once(child, 'exit')
  await untilCrash(crash)
  child.kill('SIGKILL')
  await closed
  await ended // with threads that waited for the mount
  await vi.waitFor(() => expectNothingLeft(options.directory ?? ''), { timeout: startMs, interval: 20 })
  silence?.answer()
  await checkConfirmed(store, model, seed)
  const start = performance.now()
  const adapter = await open(options)
  expect(performance.now() - start).toBeLessThan(startMs)
  return { model, adapter }
}

async function expectNothingLeft(directory: string): Promise<void> {
  expect(mountsBelow(directory)).toEqual([])
  expect(await processesNaming(directory)).toEqual([])
}
