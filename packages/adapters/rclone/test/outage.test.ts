import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'

import { createLocalAdapter } from '@ws/adapter-local'
import type { StorageAdapter } from '@ws/core/adapter'
import { describeWith, deep } from '@ws/test-fixtures'
import { expect, it, onTestFinished, vi } from 'vitest'

import { at, failureOf, mountNeeds, openSite, rcloneOf, readText, scratch, storeThatHangs, write } from './support.ts'

const hangMs = deep ? 30_000 : 5_000
const operationTimeout = 1_000
/** Milliseconds after its limit in which a call has its error, on a machine with other work. */
const lateMs = 1_500

/** Milliseconds that a write and its read take, the median of some. */
async function speedOf(adapter: StorageAdapter): Promise<number> {
  const took: number[] = []
  for (let round = 0; round < 20; round += 1) {
    const start = performance.now()
    await write(adapter, '/file', `content ${round}`)
    await readText(adapter, '/file')
    took.push(performance.now() - start)
  }
  return took.sort((one, other) => one - other)[10] ?? 0
}

describeWith(mountNeeds, 'a store that stalls', () => {
  it(`for ${hangMs / 1_000} s holds nothing but its own callers, each of whom has an error in time; then all goes on`, {
    tags: 'rounds',
  }, async () => {
    const { store, setFaults, answer } = await storeThatHangs()
    const { adapter, directory } = await openSite(
      { timeouts: { operation: operationTimeout, directoryCache: 1, attributeCache: 1 } },
      store,
    )
    // its uploads do not belong to its speed
    const { adapter: mounted } = await openSite({ timeouts: { writeBack: 600_000, flush: 1_000 } })
    const local = await createLocalAdapter({ root: await scratch(), io: 'async' })
    onTestFinished(() => local.close())
    await write(adapter, '/d/known', 'x')
    await adapter.flush()
    const rclone = await rcloneOf(directory)
    const others = [mounted, local]
    const before = await Promise.all(others.map(speedOf))

    await write(adapter, '/d/waiting', 'written before')
    const loop = monitorEventLoopDelay({ resolution: 20 })
    const end = performance.now() + hangMs
    // the connection stalls: what was asked is answered afterwards
    setFaults(() => ({ kind: 'delay', ms: Math.max(end - performance.now(), 0) }))
    loop.enable()
    for (let round = 0; performance.now() < end - operationTimeout - lateMs; round += 1) {
      const start = performance.now()
      const calls = [
        adapter.stat(at(`/cold/${round}`)),
        adapter.list(at(`/cold/${round}`)).next(),
        adapter.flush({ timeout: operationTimeout }),
      ]
      const errors = calls.map(async (call) => {
        expect(await failureOf(call)).toMatchObject({ code: 'ETIMEDOUT' })
        expect(performance.now() - start).toBeLessThan(operationTimeout + lateMs)
      })
      const now = await Promise.all(others.map(speedOf))
      for (const [index, took] of now.entries()) expect(took).toBeLessThan((before[index] ?? 0) * 4 + 100)
      await Promise.all(errors)
    }
    loop.disable()
    expect(loop.max / 1e6).toBeLessThan(1_000)
    await delay(Math.max(end - performance.now(), 0))
    answer()
    await vi.waitFor(async () => expect(await readText(adapter, '/d/known')).toBe('x'), { timeout: 30_000 })
    await write(adapter, '/after', 'written')
    await vi.waitFor(() => adapter.flush({ timeout: 10_000 }), { timeout: 30_000 })
    expect(await store.get('threads/t1/after')).toBe('written')
    expect(await store.get('threads/t1/d/waiting')).toBe('written before')
    expect(await rcloneOf(directory)).toBe(rclone)
  })
})
